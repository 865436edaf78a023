// Which ranks hold the same part of a tensor, and which of them holds other bytes than the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/artifact/whole_program.h"
#include "runtime/comm/collectives/mesh.h"
#include "runtime/data/shard.h"

namespace sgd::guard {

// A tensor, and the stages that hold it: those with the ranks' own programs, or -1 for all ranks.
struct HeldTensor {
  data::TensorType type;
  std::vector<artifact::Holder> holders;
};

// Tensors that are cut alike.
struct ReplicaClass {
  static constexpr uint32_t kNone = ~uint32_t{0};

  std::vector<size_t> tensors;  // positions
  // By rank: the number of its part, the same for ranks that hold the same part; kNone for ranks without one. Stages
  // compute what they hold in programs of their own, so ranks of two stages are no replicas of each other.
  std::vector<uint32_t> parts;
  bool has_replicas = false;  // whether two ranks hold the same part
};

// Every tensor is in one class. `ranks_of_stage` is the number of all ranks where there are no stages.
std::vector<ReplicaClass> ClassesOf(std::span<const HeldTensor> tensors, const comm::Mesh& mesh,
                                    uint32_t ranks_of_stage);

// Ranks of which some hold other bytes than others. The ranks that more than half of them contradict are `odd`; where
// none are in the majority, `odd` is empty.
struct Difference {
  std::vector<uint32_t> ranks;
  std::vector<uint32_t> odd;
};

// The first part of the class whose ranks have different sums, by rank; no ranks where all are alike.
Difference FindDifference(const ReplicaClass& replicas, std::span<const uint64_t> sums);

}  // namespace sgd::guard
