// Moves a tensor from one sharding to another between programs, where the compiler has not given
// both the same.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/mesh.h"
#include "runtime/comm/control/control.h"
#include "runtime/data/shard.h"

namespace sgd::train {

// The ranks whose shards are shown: of a pipeline, those of one stage, or all if the tensor is spread over stages.
struct SourceStage {
  int32_t stage = -1;  // -1: all ranks are of one
  uint32_t ranks_of_stage = 0;
};

// This rank's shard of type `to`, from this rank's bytes of type `from` (none where it is not of the source stage);
// both are cuts of the same global tensor, which each stage cuts alike unless it is spread. Every rank calls it. Puts
// the whole tensor together in memory for a moment: meant for what happens rarely, not for steps.
absl::StatusOr<std::vector<std::byte>> Redistribute(std::span<const std::byte> local, const data::TensorType& from,
                                                    const data::TensorType& to, const comm::Mesh& mesh,
                                                    const SourceStage& source, comm::Control& control,
                                                    absl::Duration deadline);

}  // namespace sgd::train
