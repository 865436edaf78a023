// The parts of the state that the ranks of one host hold, and which of these ranks copies which part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/checkpoint/sharded_file.h"
#include "runtime/data/shard.h"
#include "runtime/train/job.h"

namespace sgd::train {

// The state of `rank` as CarriedState::Tensors gives it, without bytes.
std::vector<checkpoint::LocalTensor> StateOf(const Job& job, uint32_t rank);

// The part of the main program's input that `rank` holds; nothing where it holds none, or padding alone.
std::optional<data::Shard> HeldShard(const Job& job, size_t input, uint32_t rank);

// Whether both hold the same elements of one tensor; two shards of a tensor hold the same ones or none in common.
bool AreAlike(const data::Shard& a, const data::Shard& b);

// This rank's part of the work where ranks hold equal shards of a tensor.
struct Share {
  uint32_t part = 0;
  uint32_t parts = 0;  // none: the rank holds nothing of the tensor
};

// By the positions of the state's tensors (StateSpecs): how `rank`, one of `host`, shares the work with the other ranks
// of that host.
std::vector<Share> SharesOnHost(const Job& job, const RankRange& host, uint32_t rank);

// `state` with the work divided among the ranks of a host, for an image of all that this host holds.
std::vector<checkpoint::LocalTensor> DividedOnHost(std::vector<checkpoint::LocalTensor> state,
                                                   const std::vector<Share>& shares);

}  // namespace sgd::train
