// One gathering; of each host its first rank is compared with the first ranks of hosts that differ.
#include "runtime/comm/hosts/transport_meeting.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/comm/control/control_message.h"

namespace sgd::comm {
namespace {

struct Found {
  std::string version, devices;
};

absl::StatusOr<std::vector<Found>> Gather(Control& control, const Found& mine, absl::Duration timeout) {
  absl::StatusOr<std::vector<std::string>> all =
      control.AllGatherBytes(EncodeTexts({mine.version, mine.devices}), timeout);
  if (!all.ok()) return all.status();
  std::vector<Found> found;
  for (const std::string& text : *all) {
    const auto parts = DecodeTexts(text);
    if (!parts.has_value() || parts->size() != 2)
      return absl::InternalError("a rank said something else of what it sends by");
    found.push_back({(*parts)[0], (*parts)[1]});
  }
  return found;
}

// "tcp" of "tcp/eth0 tcp/lo": devices of one kind may reach each other.
std::set<std::string> KindsOf(const std::string& devices) {
  std::set<std::string> kinds;
  const std::vector<std::string> names = absl::StrSplit(devices, ' ', absl::SkipEmpty());
  for (const std::string& name : names) kinds.insert(name.substr(0, name.find('/')));
  return kinds;
}

bool HaveCommon(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& kind) { return b.contains(kind); });
}

std::string Describe(const Placement& placement, uint32_t rank, const Found& found) {
  return absl::StrCat(placement.Describe(rank), " has ", found.version, " with ",
                      found.devices.empty() ? "no device" : found.devices);
}

}  // namespace

absl::Status CompareTransports(Control& control, const Placement& placement, const std::string& version,
                               const std::string& devices, absl::Duration timeout) {
  const absl::StatusOr<std::vector<Found>> all = Gather(control, {version, devices}, timeout);
  if (!all.ok()) return all.status();
  const auto refuse = [&](uint32_t a, uint32_t b, const char* why) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(placement, a, (*all)[a]), ", ", Describe(placement, b, (*all)[b]), why));
  };
  // Ranks that have them: of two hosts, one of which is another than that of whoever comes next.
  std::map<std::set<std::string>, std::vector<uint32_t>> ranks_of_kinds;
  for (uint32_t rank = 0; rank < all->size(); ++rank) {
    if ((*all)[rank].version != (*all)[0].version) {
      return refuse(0, rank,
                    ", which do not understand each other; expected one version; install the same on all hosts");
    }
    const auto is_elsewhere = [&](uint32_t other) { return placement.host_of[other] != placement.host_of[rank]; };
    const std::set<std::string> kinds = KindsOf((*all)[rank].devices);
    for (const auto& [others, ranks] : ranks_of_kinds) {
      const auto other = std::ranges::find_if(ranks, is_elsewhere);
      if (other == ranks.end() || HaveCommon(kinds, others)) continue;
      return refuse(*other, rank,
                    "; expected a kind of network that both have; look at UCX_TLS and --net-devices on both hosts");
    }
    std::vector<uint32_t>& same = ranks_of_kinds[kinds];
    if (same.size() < 2 && std::ranges::all_of(same, is_elsewhere)) same.push_back(rank);
  }
  return absl::OkStatus();
}

}  // namespace sgd::comm
