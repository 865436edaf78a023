// The facts of a run that the launcher of a host knows, by which all launchers agree on the state to resume from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/manifest.h"

namespace sgd::train {

struct HostFacts {
  // Of a launcher that has started ranks of this run before.
  struct Run {
    uint64_t first = 0, end = 0;  // steps done when the run begins and when it is done
    uint64_t restarts_left = 0, past_restarts = 0;
    uint64_t replaced = 0;            // steps done when a slow rank was replaced last; 0: none was
    checkpoint::TrainingPoint point;  // of copies, but for their step
    std::string loss;                 // the line of the log about what has just been lost; may be empty
  };
  std::optional<Run> run;
  std::vector<uint64_t> copies;         // steps of whole copies of what this host's ranks hold
  std::vector<uint64_t> of_other_host;  // of these, with what the host before this one holds, too
  std::optional<uint64_t> saved;        // the newest checkpoint; of a spare, when it began to wait
};

std::string HostFactsJson(const HostFacts& facts);
// InvalidArgument for anything else.
absl::StatusOr<HostFacts> ParseHostFacts(std::string_view text);

// The state that all ranks go on from.
struct AgreedState {
  enum class From : uint8_t { kCopies, kCheckpoint, kStart } from = From::kStart;
  uint64_t step = 0;
  std::vector<uint32_t> without_state;  // of kCopies: hosts whose ranks get theirs from the next host
};

// Of the facts by host: the newest step of which each host has a copy, or the next one has one for it, or the newest
// checkpoint that all hosts of the run see where that is further. `first` is where the run begins without either.
AgreedState AgreeOnState(const std::vector<HostFacts>& hosts, uint64_t first);

}  // namespace sgd::train
