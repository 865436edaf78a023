// Names one kind of peers: the kind that is nearest to the cause.
#include "runtime/comm/awaited_peers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sgd::comm {

std::string DescribeAwaited(AwaitedPeers awaited, const Placement& placement) {
  const std::pair<std::vector<uint32_t>*, const char*> kinds[] = {{&awaited.senders, " sent nothing"},
                                                                  {&awaited.relays, " sent nothing"},
                                                                  {&awaited.takers, " took nothing"},
                                                                  {&awaited.owners, " freed no place"}};
  const auto describe = [&](std::string* out, uint32_t peer) { absl::StrAppend(out, placement.Describe(peer)); };
  for (const auto& [peers, owe] : kinds) {
    if (peers->empty()) continue;
    std::ranges::sort(*peers);
    peers->erase(std::unique(peers->begin(), peers->end()), peers->end());
    return absl::StrCat(absl::StrJoin(*peers, ", ", describe), owe);
  }
  return "this rank did not finish";
}

absl::Status OverdueError(const std::string& description, const AwaitedPeers& awaited, const Placement& placement,
                          absl::Duration timeout) {
  return absl::DeadlineExceededError(
      absl::StrCat(description, ": ", DescribeAwaited(awaited, placement), " within ", absl::FormatDuration(timeout)));
}

}  // namespace sgd::comm
