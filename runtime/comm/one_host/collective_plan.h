// A collective evaluated for one rank: who takes part, which bytes move where, and what is reduced.
// No memory is touched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/comm/kernels/reduce_rows.h"
#include "runtime/comm/kernels/strided_copy.h"
#include "runtime/comm/one_host/range_plan.h"

namespace sgd::comm {

struct OperandPlan {
  uint64_t source_offset = 0;  // in the window
  uint64_t source_bytes = 0;
  uint64_t target_offset = 0;
  uint64_t staged_offset = 0;  // of the source in a staging slot
  // The part of every member's source that this rank reads and where its result begins, bytes within source
  // and target.
  uint64_t read_offset = 0;
  uint64_t write_offset = 0;
  RowReduction reduction;           // AllReduce, ReduceScatter
  StridedCopy copy;                 // the other kinds: one member's contribution
  uint64_t copy_member_stride = 0;  // between the contributions of members, in the target
  RangePlan range;                  // GatherRange, instead of `copy`
};

struct CollectivePlan {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::string description;        // "all_reduce #3 (location)"
  uint32_t hash = 0;              // of everything that must be equal on all ranks
  std::vector<uint32_t> members;  // ranks of the group, by position
  uint32_t position = 0;          // this rank's
  std::vector<uint32_t> senders;  // positions this rank copies from; empty for reductions and ranges
  std::vector<uint32_t> readers;  // ranks that read this rank's source or write its target
  bool stages_source = true;      // whether anyone reads this rank's source
  bool reduces = false;
  bool is_staged = false;  // small: sources are read from staging slots
  // Whether the reduced part is written to every member's target (AllReduce in two shots) or to
  // this rank's alone.
  bool pushes = false;
  uint64_t sent_bytes = 0;  // by the ring rule
  std::vector<OperandPlan> operands;
};

// Evaluates a collective that has passed CheckSpec. Sources of up to `slot_bytes` in all are
// staged.
absl::StatusOr<CollectivePlan> MakeCollectivePlan(const Mesh& mesh, const CollectiveSpec& spec, uint32_t rank,
                                                  uint32_t index, uint64_t slot_bytes);

}  // namespace sgd::comm
