// Checks that an ELF object can only do what kernels need before anyone loads it: a parser of our
// own, bounds-checked, loading nothing.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/artifact/container.h"

namespace sgd::artifact {

// InvalidArgument unless `object` is an x86-64 shared object that
//   defines every symbol of `functions` as a function inside an executable segment,
//   has no undefined symbols and needs no other library,
//   runs no code when loaded (no initialisers, no indirect functions) and has no thread-local data,
//   has no memory that stays writable after loading, no executable stack, and no relocation but
//   relative ones.
// `object` is untrusted; nothing outside of it is read.
absl::Status CheckKernelObject(Bytes object, const std::vector<std::string>& functions);

}  // namespace sgd::artifact
