// Runs one behind the other: where, how long, bytes.
#include "runtime/checkpoint/tensor_runs.h"

#include <cstring>

namespace sgd::checkpoint {
namespace {

// Where a run of bytes goes in a tensor; the bytes follow.
struct Run {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

}  // namespace

std::string RunsOf(const LocalTensor& tensor, uint32_t part, uint32_t parts) {
  std::string text;
  tensor.shard.ForEachRunOfPart(part, parts, [&](uint64_t global_offset, uint64_t local_offset, uint64_t bytes) {
    const Run run{global_offset, bytes};
    text.append(reinterpret_cast<const char*>(&run), sizeof(run));
    text.append(reinterpret_cast<const char*>(tensor.bytes.data() + local_offset), bytes);
  });
  return text;
}

absl::Status PutRuns(std::string_view text, std::span<std::byte> global) {
  while (!text.empty()) {
    Run run;
    const bool has_run = text.size() >= sizeof(run);
    if (has_run) std::memcpy(&run, text.data(), sizeof(run));
    if (!has_run || run.bytes > text.size() - sizeof(run) || run.offset > global.size() ||
        run.bytes > global.size() - run.offset) {
      return absl::InternalError("a rank gave bytes of another tensor");
    }
    std::memcpy(global.data() + run.offset, text.data() + sizeof(run), run.bytes);
    text.remove_prefix(sizeof(run) + run.bytes);
  }
  return absl::OkStatus();
}

}  // namespace sgd::checkpoint
