// Turns the exception of memory that cannot be had into an error that says for what.
#pragma once

#include <new>
#include <stdexcept>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sgd::artifact {

// Calls `function`, which returns a status or a StatusOr. ResourceExhausted, "no memory for WHAT", where it throws
// because memory is exhausted or because it asked for an impossible size.
template <typename Function>
auto WithMemoryFor(const char* what, const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return absl::ResourceExhaustedError(absl::StrCat("no memory for ", what));
}

}  // namespace sgd::artifact
