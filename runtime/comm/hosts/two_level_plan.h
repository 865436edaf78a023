// A collective whose group is on several hosts, evaluated for one rank: what goes through the memory of its host, and
// which messages go between it and ranks of other hosts. No memory is touched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/control/placement.h"
#include "runtime/comm/hosts/group_nodes.h"
#include "runtime/comm/hosts/reduction_part.h"
#include "runtime/comm/kernels/packed_message.h"
#include "runtime/comm/one_host/collective_plan.h"

namespace sgd::comm {

// Bytes of windows that go from one rank to one of another host. Both know the same run of bytes, of which this is a
// range.
struct Move {
  uint32_t peer = 0;
  PackedMessage message;  // in the sender's window, or in the windows of all of `targets`
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t chunk_bytes = 0;
  std::vector<uint32_t> targets;  // of what is received: ranks of this host, by their index there
  bool is_passed_on = false;      // of what is received: the peer gets it from another rank
  std::optional<size_t> after;    // of what is passed on: the receive that brings it to this rank's window
};

// The work of this rank, as the representative of its host, for one part of a reduction.
struct PartPlan {
  std::unique_ptr<ReductionPart> part;
  std::vector<uint32_t> values_to;  // ranks of other hosts that reduce the part: get this host's values
  struct From {
    uint32_t peer = 0;
    uint32_t host = 0;
  };
  std::vector<From> values_from;         // where this rank reduces: the values of the other hosts
  std::vector<uint32_t> results_to;      // ranks of hosts that do not reduce the part and want its result
  std::optional<uint32_t> results_from;  // where this rank does not reduce
  std::vector<uint32_t> targets;         // where the result is stored: ranks of this host, by their index there

  bool reduces() const { return !values_from.empty(); }
};

// An AllReduce by recursive doubling, of which one rank per host does its host's work.
struct DoublingPlan {
  std::unique_ptr<ReductionPart> part;  // of one chunk
  struct Round {
    uint32_t peer = 0;
    uint32_t host = 0;
    bool is_left = false;  // the peer's ranks are before this host's in the tree
  };
  std::vector<Round> rounds;
  std::vector<uint32_t> targets;  // ranks of this host, by their index there
};

struct TwoLevelPlan {
  CollectivePlan base;                   // with ranks of the job
  std::vector<uint32_t> local_members;   // ranks of this host in the group, by their index there
  std::vector<int32_t> local_positions;  // by position: the member's index on this host, or -1
  GroupNodes nodes;                      // of reductions
  std::vector<PartPlan> parts;
  std::optional<DoublingPlan> doubling;
  std::vector<Move> sends, receives;  // of all else
  uint64_t host_bytes = 0;            // that this rank sends to other hosts
};

// Null where the group is on this rank's host alone. `base` is of MakeCollectivePlan.
absl::StatusOr<std::unique_ptr<TwoLevelPlan>> MakeTwoLevelPlan(const Mesh& mesh, const CollectiveSpec& spec,
                                                               const Placement& placement, uint32_t rank,
                                                               const CollectivePlan& base);

}  // namespace sgd::comm
