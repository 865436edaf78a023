// The control knows which ranks the awaited ones wait for.
#include "runtime/comm/control/awaited_peers.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::comm {

std::vector<uint32_t> AwaitedPeers::All() const {
  std::vector<uint32_t> all;
  for (const std::vector<uint32_t>* peers : {&senders, &relays, &takers, &owners})
    all.insert(all.end(), peers->begin(), peers->end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

const char* AwaitedPeers::Owes(uint32_t rank) const {
  const std::pair<const std::vector<uint32_t>*, const char*> kinds[] = {{&senders, " sent nothing"},
                                                                        {&relays, " sent nothing"},
                                                                        {&takers, " took nothing"},
                                                                        {&owners, " freed no place"}};
  for (const auto& [peers, owes] : kinds) {
    if (std::ranges::find(*peers, rank) != peers->end()) return owes;
  }
  return " did not go on";
}

absl::Status OverdueError(const std::string& description, const AwaitedPeers& awaited, Control& control,
                          const Placement& placement, absl::Duration timeout) {
  const RankWait own{description, awaited.All()};
  if (own.awaited.empty()) {
    return absl::DeadlineExceededError(
        absl::StrCat(description, ": this rank did not finish within ", absl::FormatDuration(timeout)));
  }
  const std::optional<Blame> blame = control.BlameFor(own);
  if (absl::Status cause = control.Poll(); !cause.ok())
    return absl::AbortedError(absl::StrCat(description, " was given up: ", cause.message()));
  uint32_t named = own.awaited[0];
  for (uint32_t rank : blame.has_value() ? blame->ranks : own.awaited) {
    if (std::ranges::find(own.awaited, rank) == own.awaited.end()) continue;
    named = rank;
    break;
  }
  return LateError(own, blame, awaited.Owes(named), timeout, [&](uint32_t rank) { return placement.Describe(rank); });
}

}  // namespace sgd::comm
