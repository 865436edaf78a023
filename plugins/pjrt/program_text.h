// Programs as text. Frameworks send bytecode of versioned StableHLO, which the MLIR in their own process reads: the
// Python package registers a function that does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::pjrt {

struct ProgramText {
  std::string text;
  std::string name = "main";  // of the module
  // Of the function main, where the reader knows: element types as MLIR writes them, and whether the caller gives an
  // argument away.
  std::vector<std::string> argument_types, result_types;
  std::vector<bool> is_donated;
  std::vector<std::string> argument_memories, result_memories;  // kinds; empty where there is none
};

// Text is returned as it is. FailedPrecondition for bytecode without a reader, and the reader's errors.
absl::StatusOr<ProgramText> ReadProgramText(std::string_view code);

// The version of StableHLO that the reader knows; empty before it is registered.
std::vector<int64_t> StablehloVersion();

}  // namespace sgd::pjrt

// For the Python package, through ctypes.
extern "C" {
// Reads bytecode, and gives what it finds to sgd_pjrt_put, with `result`. Called without the interpreter's lock.
using SgdProgramReader = void (*)(const char* code, size_t size, void* result);
// `version` are the three numbers of StableHLO's version.
void sgd_pjrt_set_reader(SgdProgramReader reader, const int64_t* version);
// `key` is one of text, name, argument_types, result_types, donated, argument_memories and result_memories (lists with
// commas between), or error.
void sgd_pjrt_put(void* result, const char* key, const char* value, size_t size);
}
