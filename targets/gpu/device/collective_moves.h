// Which bytes one rank sends to and receives from every other in a collective that reduces nothing. No memory is
// touched.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/comm/one_host/collective_plan.h"

namespace sgd::cuda {

// Rows of one member's source that become rows of another one's target. Offsets are bytes of the window. Between two
// ranks, moves come in the same order on both.
struct Move {
  uint32_t from = 0, to = 0;   // positions in the group
  uint64_t source_offset = 0;  // in the sender's window
  uint64_t target_offset = 0;  // in the receiver's
  comm::StridedCopy rows;

  uint64_t bytes() const { return rows.blocks * rows.rows * rows.row_bytes; }
  bool IsDenseAtSource() const;
  bool IsDenseAtTarget() const;
};

struct MoveList {
  std::vector<Move> moves;            // those that the rank sends or receives
  std::vector<comm::ZeroRows> zeros;  // of its window, to be cleared
};

// Of a spec that has passed CheckSpec and reduces nothing, for one rank.
absl::StatusOr<MoveList> MovesOf(const comm::Mesh& mesh, const comm::CollectiveSpec& spec,
                                 const comm::CollectivePlan& plan);

}  // namespace sgd::cuda
