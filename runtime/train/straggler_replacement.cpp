// Another core of the same host comes first: the state stays where it is.
#include "runtime/train/straggler_replacement.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::train {
namespace {

Replacement Nothing(std::string reason) { return {.place = std::nullopt, .reason = std::move(reason)}; }

const char* ReasonOf(watch::OtherCores other_cores) {
  switch (other_cores) {
    case watch::OtherCores::kUnbound:
      return "ranks are bound to no cores, since there are fewer cores than ranks";
    case watch::OtherCores::kTooFew:
      return "this host has no core to spare";
    case watch::OtherCores::kBusy:
      return "the host's other cores are busy";
    case watch::OtherCores::kUnknown:
    case watch::OtherCores::kIdle:
      break;
  }
  return "it is not known yet whether its host's other cores are idle";
}

}  // namespace

Replacement DecideOnReplacement(const ReplacementOptions& options, const watch::Straggler& straggler,
                                watch::OtherCores other_cores) {
  if (straggler.cause != watch::StragglerCause::kCompute)
    return Nothing(absl::StrCat("another core would not help with its ", watch::CauseName(straggler.cause)));
  if (straggler.lacks_cores) return Nothing("other processes run on its cores");
  if (options.restarts_left == 0) return Nothing("--restarts are used up");
  if (options.last && straggler.step < *options.last + options.every) {
    return Nothing(absl::StrCat("the last replacement was before step ", *options.last, ", and ", options.every,
                                " steps lie between two"));
  }
  if (other_cores == watch::OtherCores::kIdle) return {.place = ReplacementBoard::Place::kOtherCores, .reason = ""};
  if (options.has_spare_host) return {.place = ReplacementBoard::Place::kOtherHost, .reason = ""};
  return Nothing(ReasonOf(other_cores));
}

}  // namespace sgd::train
