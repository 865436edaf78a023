// One reader in a process, set when the package is imported.
#include "plugins/pjrt/program_text.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "absl/strings/str_split.h"

namespace sgd::pjrt {
namespace {

constexpr std::string_view kBytecode = "ML\xefR";

std::mutex mutex;  // of what follows
SgdProgramReader registered_reader = nullptr;
std::vector<int64_t> registered_version;

struct ReadResult {
  ProgramText program;
  std::string error;
};

void Put(ReadResult& result, std::string_view key, std::string_view value) {
  if (key == "text") result.program.text = value;
  if (key == "name") result.program.name = value;
  if (key == "error") result.error = value;
  if (key == "argument_types" && !value.empty())
    result.program.argument_types = absl::StrSplit(std::string(value), ',');
  if (key == "result_types" && !value.empty()) result.program.result_types = absl::StrSplit(std::string(value), ',');
  if (key == "argument_memories") result.program.argument_memories = absl::StrSplit(std::string(value), ',');
  if (key == "result_memories") result.program.result_memories = absl::StrSplit(std::string(value), ',');
  if (key != "donated") return;
  for (const char digit : value) {
    if (digit != ',') result.program.is_donated.push_back(digit == '1');
  }
}

}  // namespace

absl::StatusOr<ProgramText> ReadProgramText(std::string_view code) {
  if (!code.starts_with(kBytecode)) {
    ProgramText program;
    program.text = code;
    return program;
  }
  SgdProgramReader reader = nullptr;
  {
    const std::lock_guard lock(mutex);
    reader = registered_reader;
  }
  if (reader == nullptr)
    return absl::FailedPreconditionError(
        "the program is bytecode, and no reader is registered; install the Python package jax_plugins.sgd, which "
        "registers one, or send StableHLO as text");
  ReadResult result;
  reader(code.data(), code.size(), &result);
  if (!result.error.empty()) return absl::InvalidArgumentError(result.error);
  if (result.program.text.empty()) return absl::InternalError("the reader of programs has returned no text");
  return std::move(result.program);
}

std::vector<int64_t> StablehloVersion() {
  const std::lock_guard lock(mutex);
  return registered_version;
}

}  // namespace sgd::pjrt

extern "C" {

__attribute__((visibility("default"))) void sgd_pjrt_set_reader(SgdProgramReader reader, const int64_t* version) {
  const std::lock_guard lock(sgd::pjrt::mutex);
  sgd::pjrt::registered_reader = reader;
  sgd::pjrt::registered_version.assign(version, version + 3);
}

__attribute__((visibility("default"))) void sgd_pjrt_put(void* result, const char* key, const char* value,
                                                         size_t size) {
  sgd::pjrt::Put(*static_cast<sgd::pjrt::ReadResult*>(result), key, {value, size});
}
}
