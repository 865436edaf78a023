// Whether a host has other cores for a rank that is slow on its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/core_load.h"
#include "runtime/watch/rank_state.h"

namespace sgd::train {

// Of one rank, one thread. The cores are those that the ranks of its host are bound to parts of, as by AssignCores.
class OtherCoresOfHost {
 public:
  using ReadTimes = std::function<std::map<int, launch::CoreTime>()>;
  // `rank` of the `ranks` of this host, `threads` each.
  OtherCoresOfHost(
      const std::vector<launch::Core>& cores, uint32_t ranks, uint32_t rank, uint32_t threads,
      ReadTimes read_times = [] { return launch::ReadCoreTimes(); });

  // Whether the cores would do, by what other programs have left of them in the last seconds.
  watch::OtherCores Look(absl::Time now);

 private:
  struct Reading {
    absl::Time at = absl::InfiniteFuture();
    std::map<int, launch::CoreTime> times;
  };

  const uint32_t threads_;
  const ReadTimes read_times_;
  std::vector<int> others_;
  watch::OtherCores without_load_ = watch::OtherCores::kUnknown;  // what is known of them beforehand
  Reading older_, newer_;
};

}  // namespace sgd::train
