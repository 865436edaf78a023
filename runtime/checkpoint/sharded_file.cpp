// Rank 0 makes the file aside, all fill it through shared mappings, rank 0 renames it.
#include "runtime/checkpoint/sharded_file.h"

namespace sgd::checkpoint {

absl::Status WriteShardedFile(const std::string& path, const std::vector<LocalTensor>& tensors,
                              const data::Metadata& metadata, comm::Communicator& communicator,
                              absl::Duration deadline) {
  std::vector<data::TensorSpec> specs;
  for (const LocalTensor& tensor : tensors) {
    specs.push_back({tensor.name, tensor.shard.type().element, tensor.shard.type().global_dims});
  }
  const bool is_creator = communicator.rank() == 0;
  absl::StatusOr<data::TensorFileWriter> writer = absl::UnknownError("");
  if (is_creator) writer = data::TensorFileWriter::Create(path, specs, metadata);
  if (is_creator && !writer.ok()) return writer.status();
  if (absl::Status status = communicator.Barrier(deadline); !status.ok()) return status;
  if (!is_creator) writer = data::TensorFileWriter::Join(path, specs, metadata);
  if (!writer.ok()) return writer.status();

  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].shard.is_first_replica()) tensors[i].shard.CopyOut(tensors[i].bytes, writer->Bytes(i));
  }
  if (absl::Status status = communicator.Barrier(deadline); !status.ok()) return status;
  return is_creator ? writer->Commit() : absl::OkStatus();
}

}  // namespace sgd::checkpoint
