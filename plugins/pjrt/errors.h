// Errors across the C API: functions of the plugin return absl::Status, and Entry makes entries of the API's table of
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "third_party/pjrt/pjrt_c_api.h"

// Owned by the caller of the API, who destroys it.
struct PJRT_Error {
  absl::Status status;
};

namespace sgd::pjrt {

// Null for OK. The codes of PJRT are those of absl.
inline PJRT_Error* ErrorOf(absl::Status status) { return status.ok() ? nullptr : new PJRT_Error{std::move(status)}; }

inline absl::Status StatusOf(PJRT_Error_Code code, const char* message, size_t size) {
  return absl::Status(static_cast<absl::StatusCode>(code), std::string(message, size));
}

// The entry of the API's table for a function `absl::Status Function(SomeArgs& args)`. Arguments of callers that know
// fewer fields than this plugin are refused: it would write beyond them.
template <auto kFunction>
struct Entry;

template <typename Args, absl::Status (*kFunction)(Args&)>
struct Entry<kFunction> {
  static PJRT_Error* Call(Args* args) {
    if (args->struct_size < sizeof(Args) - (alignof(Args) - 1))
      return ErrorOf(
          absl::UnimplementedError(absl::StrCat("the PJRT C API of the caller is older than ", PJRT_API_MAJOR, ".",
                                                PJRT_API_MINOR, ", which this plugin needs; install a newer jaxlib")));
    return ErrorOf(kFunction(*args));
  }
};

// A name as a template argument.
template <size_t kSize>
struct Name {
  constexpr Name(const char (&text)[kSize]) { std::copy_n(text, kSize, value); }  // NOLINT: converts
  char value[kSize];
};

// The entry of a function that the plugin does not have. A null entry would end the process of the caller.
template <Name kName>
struct Missing {
  template <typename Args>
  static PJRT_Error* Call(Args*) {
    return ErrorOf(absl::UnimplementedError(absl::StrCat(kName.value, " is not supported by the sgd plugin")));
  }
};

}  // namespace sgd::pjrt
