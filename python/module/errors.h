// Statuses of the runtime as exceptions of sgd.errors.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::python {

// InvalidArgument and NotFound are an InputError, all others a RunError; both have the field `code`.
[[noreturn]] void Throw(const absl::Status& status);

inline void Check(const absl::Status& status) {
  if (!status.ok()) Throw(status);
}

template <typename T>
T Take(absl::StatusOr<T> value) {
  if (!value.ok()) Throw(value.status());
  return *std::move(value);
}

}  // namespace sgd::python
