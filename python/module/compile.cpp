// The compiler's library, with requests and results as they are there.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/module/errors.h"
#include "python/module/interruptible.h"
#include "python/module/parts.h"
#include "tools/library/compiler_library.h"

namespace sgd::python {
namespace {

namespace nb = nanobind;
using compiler::CompileRequest;
using compiler::CompileResult;

std::string TextOf(nb::bytes bytes) { return {bytes.c_str(), bytes.size()}; }

CompileResult Compile(nb::list programs, const std::vector<std::string>& flags,
                      const std::vector<std::pair<std::string, std::string>>& recipes) {
  struct Call {
    CompileRequest request;
    CompileResult result;
  };
  const auto call = std::make_shared<Call>();
  for (nb::handle program : programs) {
    const nb::tuple fields = nb::cast<nb::tuple>(program);
    call->request.programs.push_back(
        {nb::cast<std::string>(fields[0]), nb::cast<std::string>(fields[1]), TextOf(nb::cast<nb::bytes>(fields[2]))});
  }
  call->request.flags = flags;
  for (const auto& [name, text] : recipes) call->request.recipes.push_back({name, text});
  Check(RunAbandonably([call] { call->result = compiler::Compile(call->request); }));
  return std::move(call->result);
}

std::vector<std::string> ListOps(const std::string& frontend) {
  compiler::ListedOps listed = compiler::ListOps(frontend);
  if (listed.code != 0) Throw(absl::InvalidArgumentError(listed.messages));
  return std::move(listed.ops);
}

}  // namespace

void BindCompile(nb::module_& module) {
  nb::class_<CompileResult>(module, "CompileResult", "A compilation: bytes and texts, as sgdc writes and prints them.")
      .def_ro("code", &CompileResult::code)
      .def_ro("messages", &CompileResult::messages)
      .def_prop_ro("artifact",
                   [](const CompileResult& self) { return nb::bytes(self.artifact.data(), self.artifact.size()); })
      .def_ro("emitted", &CompileResult::emitted)
      .def_ro("report", &CompileResult::report)
      .def_ro("explanation", &CompileResult::explanation)
      .def_ro("report_text", &CompileResult::report_text)
      .def_ro("explanation_text", &CompileResult::explanation_text)
      .def_ro("recipe", &CompileResult::recipe);
  module.def("compile", &Compile, nb::arg("programs"), nb::arg("flags"), nb::arg("recipes"),
             "Compiles (name, file name, bytes) of each program with flags of sgdc and (name, text) of recipes.");
  module.def("list_ops", &ListOps, nb::arg("frontend"), "The ops that a frontend imports, 'stablehlo' or 'torch'.");
  module.attr("__version__") = compiler::Version();
}

}  // namespace sgd::python
