// Exceptions are classes of the Python part of the package.
#include "python/module/errors.h"

#include <nanobind/nanobind.h>

#include <string>

namespace sgd::python {

namespace nb = nanobind;

void Throw(const absl::Status& status) {
  const bool is_input = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  const nb::object type = nb::module_::import_("sgd.errors").attr(is_input ? "InputError" : "RunError");
  const nb::object error = type(std::string(status.message()).c_str());
  error.attr("code") = absl::StatusCodeToString(status.code()).c_str();
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace sgd::python
