// Rank 0 makes the file aside, all fill it through shared mappings, rank 0 renames it. Ranks of several hosts, whose
// mappings of a file are not the same memory even where they share a file system, give their bytes to rank 0.
#include "runtime/checkpoint/sharded_file.h"

#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace sgd::checkpoint {
namespace {

// Where a run of bytes goes in a tensor; the bytes follow.
struct Run {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

std::string EncodeRuns(const LocalTensor& tensor) {
  std::string text;
  if (!tensor.writes) return text;
  tensor.shard.ForEachRun([&](uint64_t global_offset, uint64_t local_offset, uint64_t bytes) {
    const Run run{global_offset, bytes};
    text.append(reinterpret_cast<const char*>(&run), sizeof(run));
    text.append(reinterpret_cast<const char*>(tensor.bytes.data() + local_offset), bytes);
  });
  return text;
}

absl::Status DecodeRuns(std::string_view text, std::span<std::byte> global) {
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

absl::Status WriteGathered(const std::string& path, const std::vector<LocalTensor>& tensors,
                           const std::vector<data::TensorSpec>& specs, const data::Metadata& metadata,
                           comm::Agreements& ranks, absl::Duration deadline) {
  const bool is_writer = ranks.rank() == 0;
  absl::StatusOr<data::TensorFileWriter> writer = absl::UnknownError("");
  if (is_writer) writer = data::TensorFileWriter::Create(path, specs, metadata);
  if (is_writer && !writer.ok()) return writer.status();
  for (size_t i = 0; i < tensors.size(); ++i) {
    absl::StatusOr<std::vector<std::string>> parts = ranks.GatherBytes(EncodeRuns(tensors[i]), deadline);
    if (!parts.ok()) return absl::Status(parts.status().code(), absl::StrCat(path, ": ", parts.status().message()));
    for (const std::string& part : *parts) {
      absl::Status status = is_writer ? DecodeRuns(part, writer->Bytes(i)) : absl::OkStatus();
      if (!status.ok()) return status;
    }
  }
  return is_writer ? writer->Commit() : absl::OkStatus();
}

}  // namespace

absl::Status WriteShardedFile(const std::string& path, const std::vector<LocalTensor>& tensors,
                              const data::Metadata& metadata, comm::Agreements& ranks, absl::Duration deadline) {
  std::vector<data::TensorSpec> specs;
  for (const LocalTensor& tensor : tensors) {
    specs.push_back({tensor.name, tensor.shard.type().element, tensor.shard.type().global_dims});
  }
  if (ranks.spans_hosts()) return WriteGathered(path, tensors, specs, metadata, ranks, deadline);
  const bool is_creator = ranks.rank() == 0;
  absl::StatusOr<data::TensorFileWriter> writer = absl::UnknownError("");
  if (is_creator) writer = data::TensorFileWriter::Create(path, specs, metadata);
  if (is_creator && !writer.ok()) return writer.status();
  if (absl::Status status = ranks.Barrier(deadline); !status.ok()) return status;
  if (!is_creator) writer = data::TensorFileWriter::Join(path, specs, metadata);
  if (!writer.ok()) return writer.status();

  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].writes) tensors[i].shard.CopyOut(tensors[i].bytes, writer->Bytes(i));
  }
  if (absl::Status status = ranks.Barrier(deadline); !status.ok()) return status;
  return is_creator ? writer->Commit() : absl::OkStatus();
}

}  // namespace sgd::checkpoint
