// A reduction over ranks of several hosts: which operands each host may reduce before it sends one value, and in which
// order these values make the tree of reduction_tree.h.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace sgd::comm {

// A node of the tree all of whose positions are on one host, and whose parent's are not.
struct TreeNode {
  uint32_t first = 0;  // position
  uint32_t count = 1;  // of positions
  uint32_t host = 0;
};

struct GroupNodes {
  std::vector<TreeNode> nodes;  // by position
  // In the order of execution with a stack of values: the index of a node whose value is pushed, or kJoin, which makes
  // one of the topmost two.
  static constexpr uint32_t kJoin = UINT32_MAX;
  std::vector<uint32_t> steps;

  uint32_t CountOf(uint32_t host) const;
};

// `host_of` by position of the group.
GroupNodes FindGroupNodes(absl::Span<const uint32_t> host_of);

}  // namespace sgd::comm
