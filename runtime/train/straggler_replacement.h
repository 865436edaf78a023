// Decides whether a rank that holds up the others is started again elsewhere. Plain data: others stop the ranks, and
// start the next ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/core_assignment.h"
#include "runtime/launch/core_load.h"
#include "runtime/watch/straggler_finder.h"

namespace sgd::train {

struct ReplacementOptions {
  uint64_t every = 0;            // steps that lie between two replacements, at least; 0: nobody is replaced
  std::optional<uint64_t> last;  // the step before which somebody was replaced last
  uint64_t restarts_left = 0;
  uint32_t ranks = 1;
  uint32_t threads = 1;             // per rank
  uint32_t hosts = 1;               // whose ranks take part
  bool has_spare_host = false;      // that may take the place of the straggler's
  std::vector<launch::Core> cores;  // that this host's ranks are bound to parts of, as by AssignCores
};

// What becomes of a straggler.
struct Replacement {
  enum class Kind { kNone, kOtherCores, kOtherHost };
  Kind kind = Kind::kNone;
  std::vector<int> avoided;  // cores that the next ranks leave alone
  std::string reason;        // why nothing is done; empty where the rank has not been slow for long enough yet
};

// Of the rank that looks for stragglers.
class StragglerReplacement {
 public:
  using ReadTimes = std::function<std::map<int, launch::CoreTime>()>;
  explicit StragglerReplacement(
      ReplacementOptions options, ReadTimes read_times = [] { return launch::ReadCoreTimes(); })
      : options_(std::move(options)), read_times_(std::move(read_times)) {}

  // For each straggler as it is found: which cores are idle is measured from now on.
  void Found() { before_ = read_times_(); }
  // A straggler has lasted until `straggler.step`.
  Replacement Decide(const watch::Straggler& straggler) const;

 private:
  Replacement OtherCores(uint32_t rank) const;

  const ReplacementOptions options_;
  const ReadTimes read_times_;
  std::map<int, launch::CoreTime> before_;
};

}  // namespace sgd::train
