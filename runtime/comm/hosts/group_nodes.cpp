// Recursion over the tree, from the root to the nodes of one host.
#include "runtime/comm/hosts/group_nodes.h"

#include <algorithm>
#include <bit>

namespace sgd::comm {
namespace {

void Visit(absl::Span<const uint32_t> host_of, uint32_t first, uint32_t end, GroupNodes* out) {
  const uint32_t host = host_of[first];
  if (std::all_of(host_of.begin() + first, host_of.begin() + end, [&](uint32_t other) { return other == host; })) {
    out->steps.push_back(static_cast<uint32_t>(out->nodes.size()));
    out->nodes.push_back({first, end - first, host});
    return;
  }
  const uint32_t left = std::bit_floor(end - first - 1);
  Visit(host_of, first, first + left, out);
  Visit(host_of, first + left, end, out);
  out->steps.push_back(GroupNodes::kJoin);
}

}  // namespace

uint32_t GroupNodes::CountOf(uint32_t host) const {
  return static_cast<uint32_t>(std::ranges::count(nodes, host, &TreeNode::host));
}

GroupNodes FindGroupNodes(absl::Span<const uint32_t> host_of) {
  GroupNodes result;
  if (!host_of.empty()) Visit(host_of, 0, static_cast<uint32_t>(host_of.size()), &result);
  return result;
}

}  // namespace sgd::comm
