// The plan's kinds of collectives are the runtime's; a new one that is missing on a side does not compile.
#ifndef SGD_DIALECTS_PLAN_COLLECTIVE_KIND_H
#define SGD_DIALECTS_PLAN_COLLECTIVE_KIND_H

#include "dialects/plan/plan_dialect.h"
#include "runtime/comm/sent_bytes.h"

namespace mlir::plan {

namespace detail {
constexpr bool isSameKind(CollectiveKind kind, ::sgd::comm::CollectiveKind other) {
  return static_cast<uint32_t>(kind) == static_cast<uint32_t>(other);
}
static_assert(isSameKind(CollectiveKind::AllReduce, ::sgd::comm::CollectiveKind::kAllReduce));
static_assert(isSameKind(CollectiveKind::AllGather, ::sgd::comm::CollectiveKind::kAllGather));
static_assert(isSameKind(CollectiveKind::ReduceScatter, ::sgd::comm::CollectiveKind::kReduceScatter));
static_assert(isSameKind(CollectiveKind::AllToAll, ::sgd::comm::CollectiveKind::kAllToAll));
static_assert(isSameKind(CollectiveKind::Permute, ::sgd::comm::CollectiveKind::kPermute));
static_assert(isSameKind(CollectiveKind::Broadcast, ::sgd::comm::CollectiveKind::kBroadcast));
static_assert(isSameKind(CollectiveKind::GatherRange, ::sgd::comm::CollectiveKind::kGatherRange));
static_assert(getMaxEnumValForCollectiveKind() == static_cast<uint32_t>(::sgd::comm::CollectiveKind::kGatherRange));
}  // namespace detail

constexpr ::sgd::comm::CollectiveKind toCommunicatorKind(CollectiveKind kind) {
  return static_cast<::sgd::comm::CollectiveKind>(kind);
}
constexpr CollectiveKind fromCommunicatorKind(::sgd::comm::CollectiveKind kind) {
  return static_cast<CollectiveKind>(kind);
}

}  // namespace mlir::plan

#endif
