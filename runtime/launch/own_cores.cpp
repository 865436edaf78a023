// Compares masks.
#include "runtime/launch/own_cores.h"

#include "runtime/launch/core_assignment.h"

namespace sgd::launch {
namespace {

bool Intersect(const cpu_set_t& a, const cpu_set_t& b) {
  cpu_set_t both;
  CPU_AND(&both, &a, &b);
  return CPU_COUNT(&both) > 0;
}

}  // namespace

KeptCores::KeptCores() : is_known_(sched_getaffinity(0, sizeof(before_), &before_) == 0) {}

KeptCores::~KeptCores() {
  if (is_known_) sched_setaffinity(0, sizeof(before_), &before_);
}

std::vector<int> TakeOwnCores(absl::Span<const cpu_set_t> masks, uint32_t own) {
  bool is_alone = true, are_equal = true;
  for (uint32_t rank = 0; rank < masks.size(); ++rank) {
    if (rank == own) continue;
    is_alone = is_alone && !Intersect(masks[own], masks[rank]);
    are_equal = are_equal && CPU_EQUAL(&masks[own], &masks[rank]);
  }
  if (!is_alone && !are_equal) return {};
  const std::vector<std::vector<int>> parts =
      AssignCores(AllowedCores(), is_alone ? 1 : static_cast<uint32_t>(masks.size()));
  if (parts.empty()) return {};
  const std::vector<int>& taken = parts[is_alone ? 0 : own];
  if (!is_alone) BindToCores(taken);
  return taken;
}

}  // namespace sgd::launch
