// One file of global tensors written by all ranks together, each putting its shards where they
// belong.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/control/agreements.h"
#include "runtime/data/shard.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::checkpoint {

// A tensor of this rank: the shard it holds and the shard's bytes (shard.local_bytes() of them, not
// owned).
struct LocalTensor {
  LocalTensor(std::string name, const data::Shard& shard, std::span<const std::byte> bytes)
      : LocalTensor(std::move(name), shard, bytes, shard.is_first_replica()) {}
  // `writes`: whether this rank is the one that writes the shard. A rank that does not need not hold it: `bytes` may
  // then be empty.
  LocalTensor(std::string name, const data::Shard& shard, std::span<const std::byte> bytes, bool writes)
      : name(std::move(name)), shard(shard), bytes(bytes), writes(writes) {}

  std::string name;
  data::Shard shard;
  std::span<const std::byte> bytes;
  bool writes;
  // Of ranks that share the work: each of the replicas writes its part of the shard. None: this rank writes nothing.
  uint32_t replica = 0;
  uint32_t replicas = 1;
};

// The metadata of files of state.
inline const data::Metadata& StateMetadata() {
  static const data::Metadata metadata = {{"format", "sgd"}};
  return metadata;
}

// Every rank calls this with the same names and types in the same order. The file at `path` appears
// at once, complete, or not at all. Replicated shards are written by one rank. Ranks wait for each
// other at most `deadline` at a time; the other ranks may return before rank 0 has renamed the
// file. A rank that fails returns its error, and then its peers must be ended by the job.
absl::Status WriteShardedFile(const std::string& path, const std::vector<LocalTensor>& tensors,
                              const data::Metadata& metadata, comm::Agreements& ranks, absl::Duration deadline);

}  // namespace sgd::checkpoint
