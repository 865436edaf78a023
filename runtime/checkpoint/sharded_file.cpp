// Rank 0 makes the file aside, all fill it through shared mappings, rank 0 renames it. Ranks of several hosts, whose
// mappings of a file are not the same memory even where they share a file system, give their bytes to rank 0.
#include "runtime/checkpoint/sharded_file.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/tensor_runs.h"

namespace sgd::checkpoint {
namespace {

absl::Status WriteGathered(const std::string& path, const std::vector<LocalTensor>& tensors,
                           const std::vector<data::TensorSpec>& specs, const data::Metadata& metadata,
                           comm::Agreements& ranks, absl::Duration deadline) {
  const bool is_writer = ranks.rank() == 0;
  absl::StatusOr<data::TensorFileWriter> writer = absl::UnknownError("");
  if (is_writer) writer = data::TensorFileWriter::Create(path, specs, metadata);
  if (is_writer && !writer.ok()) return writer.status();
  for (size_t i = 0; i < tensors.size(); ++i) {
    absl::StatusOr<std::vector<std::string>> parts =
        ranks.GatherBytes(tensors[i].writes ? RunsOf(tensors[i], 0, 1) : "", deadline);
    if (!parts.ok()) return absl::Status(parts.status().code(), absl::StrCat(path, ": ", parts.status().message()));
    for (const std::string& part : *parts) {
      absl::Status status = is_writer ? PutRuns(part, writer->Bytes(i)) : absl::OkStatus();
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
