// A slow core is one that the next ranks are not bound to.
#include "runtime/train/straggler_replacement.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::train {
namespace {

constexpr double kIdleShare = 0.8;  // of the time of a core that a thread moves to

Replacement Nothing(std::string reason) {
  return {.kind = Replacement::Kind::kNone, .avoided = {}, .reason = std::move(reason)};
}

}  // namespace

Replacement StragglerReplacement::Decide(const watch::Straggler& straggler) const {
  if (straggler.cause != watch::StragglerCause::kCompute)
    return Nothing(absl::StrCat("another core would not help with its ", watch::CauseName(straggler.cause)));
  if (straggler.lacks_cores) return Nothing("other processes run on its cores");
  if (options_.restarts_left == 0) return Nothing("--restarts are used up");
  if (options_.last && straggler.step < *options_.last + options_.every) {
    return Nothing(absl::StrCat("the last replacement was before step ", *options_.last, ", and ", options_.every,
                                " steps lie between two"));
  }
  if (options_.hosts == 1) return OtherCores(straggler.rank);
  if (!options_.has_spare_host) return Nothing("the run is on several hosts and has no spare one");
  return {.kind = Replacement::Kind::kOtherHost, .avoided = {}, .reason = ""};
}

Replacement StragglerReplacement::OtherCores(uint32_t rank) const {
  const std::vector<std::vector<int>> parts = launch::AssignCores(options_.cores, options_.ranks);
  if (parts.empty()) return Nothing("ranks are bound to no cores, since there are fewer cores than ranks");
  std::vector<int> others;
  for (const launch::Core& core : launch::CoresWithout(options_.cores, parts[rank])) others.push_back(core.id);
  if (others.size() < size_t{options_.ranks} * options_.threads) return Nothing("this host has no core to spare");
  if (IdleCores(before_, read_times_(), others) < kIdleShare * options_.threads)
    return Nothing("the host's other cores are busy");
  return {.kind = Replacement::Kind::kOtherCores, .avoided = parts[rank], .reason = ""};
}

}  // namespace sgd::train
