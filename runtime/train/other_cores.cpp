#include "runtime/train/other_cores.h"

#include <utility>

namespace sgd::train {
namespace {

constexpr double kIdleShare = 0.8;                          // of the time of a core that a thread moves to
constexpr absl::Duration kSpan = absl::Seconds(2);          // that a reading looks back at least, once it can
constexpr absl::Duration kLeast = absl::Milliseconds(200);  // the system counts hundredths of a second

}  // namespace

OtherCoresOfHost::OtherCoresOfHost(const std::vector<launch::Core>& cores, uint32_t ranks, uint32_t rank,
                                   uint32_t threads, ReadTimes read_times)
    : threads_(threads), read_times_(std::move(read_times)) {
  const std::vector<std::vector<int>> parts = launch::AssignCores(cores, ranks);
  if (parts.empty()) {
    without_load_ = watch::OtherCores::kUnbound;
    return;
  }
  for (const launch::Core& core : launch::CoresWithout(cores, parts[rank])) others_.push_back(core.id);
  if (others_.size() < size_t{ranks} * threads) without_load_ = watch::OtherCores::kTooFew;
}

watch::OtherCores OtherCoresOfHost::Look(absl::Time now) {
  if (without_load_ != watch::OtherCores::kUnknown) return without_load_;
  Reading reading{.at = now, .times = read_times_()};
  if (newer_.at == absl::InfiniteFuture()) older_ = newer_ = reading;
  const bool is_known = now - older_.at >= kLeast;
  const bool are_idle = is_known && launch::IdleCores(older_.times, reading.times, others_) >= kIdleShare * threads_;
  if (now - newer_.at >= kSpan) older_ = std::exchange(newer_, std::move(reading));
  if (!is_known) return watch::OtherCores::kUnknown;
  return are_idle ? watch::OtherCores::kIdle : watch::OtherCores::kBusy;
}

}  // namespace sgd::train
