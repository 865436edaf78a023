#include "runtime/measure/link_rates.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/comm/collectives/sent_bytes.h"
#include "runtime/measure/timing.h"

namespace sgd::measure {
namespace {

constexpr int kShortTimes = 100;  // one after another, each beginning when all have ended the one before
constexpr uint64_t kLeastLongBytes = 1 << 20;
constexpr double kLongSeconds = 0.05;  // more bytes say nothing new

comm::CollectiveSpec AllReduce(uint32_t axis, uint32_t size, uint64_t bytes) {
  comm::CollectiveSpec spec;
  spec.kind = comm::CollectiveKind::kAllReduce;
  spec.axes = {{.axis = axis, .pre_size = 1, .size = size}};
  comm::CollectiveOperand operand;
  operand.element = comm::ElementType::kF32;
  operand.count = bytes / sizeof(float);
  spec.operands = {operand};
  spec.location = absl::StrCat("measurement of ", axis == 0 ? "links between hosts" : "links of a host");
  return spec;
}

class LinkMeasurement {
 public:
  LinkMeasurement(comm::Communicator& communicator, const HostLayout& layout, absl::Duration timeout)
      : communicator_(communicator),
        mesh_{{layout.hosts, layout.ranks_per_host}},
        agreement_(communicator.control(), timeout),
        timeout_(timeout) {}

  absl::StatusOr<LinkRates> Run(uint32_t axis, double rounds) {
    const uint32_t size = mesh_.axis_sizes[axis];
    const absl::StatusOr<double> shortest = Seconds(AllReduce(axis, size, sizeof(float)), kShortTimes);
    if (!shortest.ok()) return shortest.status();
    LinkRates rates{.latency = *shortest / rounds};
    for (uint64_t bytes = kLeastLongBytes; bytes <= kLinkWindowBytes; bytes *= 2) {
      const absl::StatusOr<double> seconds = Seconds(AllReduce(axis, size, bytes), 1);
      if (!seconds.ok()) return seconds.status();
      const double sent = static_cast<double>(comm::SentBytes(comm::CollectiveKind::kAllReduce, size, bytes));
      // Never below a tenth of its time, whatever noise makes of the short one.
      rates.bandwidth = sent / std::max(*seconds - *shortest, 0.1 * *seconds);
      if (*seconds >= kLongSeconds) break;
    }
    return rates;
  }

 private:
  // Of one of `times` executions.
  absl::StatusOr<double> Seconds(const comm::CollectiveSpec& spec, int times) {
    absl::StatusOr<comm::CollectiveHandle> handle = communicator_.Prepare(mesh_, spec);
    if (!handle.ok()) return handle.status();
    absl::StatusOr<double> seconds = agreement_.ShortestOfAll([&]() -> absl::Status {
      for (int i = 0; i < times; ++i)
        if (absl::Status status = communicator_.Execute(*handle, timeout_); !status.ok()) return status;
      return absl::OkStatus();
    });
    if (!seconds.ok()) return seconds.status();
    return *seconds / times;
  }

  comm::Communicator& communicator_;
  const comm::Mesh mesh_;
  const Agreement agreement_;
  const absl::Duration timeout_;
};

}  // namespace

absl::StatusOr<HostLayout> LayoutOf(const std::vector<std::string>& host_of) {
  HostLayout layout{.hosts = 1, .ranks_per_host = 0};
  while (layout.ranks_per_host < host_of.size() && host_of[layout.ranks_per_host] == host_of[0])
    ++layout.ranks_per_host;
  const auto fail = [](size_t rank) {
    return absl::FailedPreconditionError(
        absl::StrCat("rank ", rank,
                     " is on another host than expected; a topology says that every host has as many ranks, and that "
                     "they are consecutive: start as many on each host"));
  };
  layout.hosts = static_cast<uint32_t>(host_of.size() / layout.ranks_per_host);
  for (size_t rank = 0; rank < host_of.size(); ++rank) {
    const size_t first = rank / layout.ranks_per_host * layout.ranks_per_host;
    if (host_of[rank] != host_of[first]) return fail(rank);
    if (first == rank && rank > 0 && std::count(host_of.begin(), host_of.begin() + rank, host_of[rank]) > 0)
      return fail(rank);
  }
  if (host_of.size() % layout.ranks_per_host != 0) return fail(host_of.size() - 1);
  return layout;
}

absl::StatusOr<MeasuredLinks> MeasureLinks(comm::Communicator& communicator, const HostLayout& layout,
                                           const std::function<double(uint32_t ranks)>& rounds_of,
                                           absl::Duration timeout) {
  LinkMeasurement measurement(communicator, layout, timeout);
  MeasuredLinks links{.layout = layout};
  if (layout.ranks_per_host > 1) {
    absl::StatusOr<LinkRates> inside = measurement.Run(1, rounds_of(layout.ranks_per_host));
    if (!inside.ok()) return inside.status();
    links.inside = *inside;
  }
  if (layout.hosts > 1) {
    absl::StatusOr<LinkRates> between = measurement.Run(0, rounds_of(layout.hosts));
    if (!between.ok()) return between.status();
    links.between = *between;
  }
  return links;
}

}  // namespace sgd::measure
