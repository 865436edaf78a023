// Rates of collectives over the links of a host, and between hosts, while all ranks use them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/communicator.h"

namespace sgd::measure {

// Ranks of a host are consecutive, and every host has as many.
struct HostLayout {
  uint32_t hosts = 1;
  uint32_t ranks_per_host = 1;
};

// `host_of`: a text by rank, equal for ranks of one host. FailedPrecondition where hosts have different numbers of
// ranks, or ranks of several hosts alternate.
absl::StatusOr<HostLayout> LayoutOf(const std::vector<std::string>& host_of);

// Of one round between two ranks, and of one rank while all send: what a topology's link says. Found from all-reduces
// of four bytes and of many.
struct LinkRates {
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second
};

struct MeasuredLinks {
  HostLayout layout;
  LinkRates inside = {};   // of hosts with several ranks
  LinkRates between = {};  // of several hosts
};

// Bytes of window that MeasureLinks needs.
inline constexpr uint64_t kLinkWindowBytes = 32 << 20;

// All ranks call it. `rounds_of`: of an all-reduce of few bytes by so many ranks.
absl::StatusOr<MeasuredLinks> MeasureLinks(comm::Communicator& communicator, const HostLayout& layout,
                                           const std::function<double(uint32_t ranks)>& rounds_of,
                                           absl::Duration timeout);

}  // namespace sgd::measure
