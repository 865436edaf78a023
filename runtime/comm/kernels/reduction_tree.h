// The order in which a group's operands are reduced: a balanced tree over group positions, which depends on nothing
// but the size of the group.
//
//   Tree(0, n) for n = 7:   ((0 1) (2 3)) ((4 5) 6)
//
// A range of one position is that operand. A longer range [a, b) is Tree(a, a + 2^k) op Tree(a + 2^k, b), with 2^k the
// largest power of two below b - a. So every aligned block of 2^k positions [j 2^k, (j + 1) 2^k) is a node of its own,
// whatever n is: whoever holds such a block may reduce it first and pass on one value, in the type of accumulators.
// docs/decisions/030-order-of-reductions.md says why.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sgd::comm {

// Accumulators that WalkReductionTree holds at a time for n operands in blocks of `block`.
constexpr uint32_t TreeAccumulators(uint32_t n, uint32_t block) {
  const uint32_t blocks = std::max(1u, (n + block - 1) / block);
  return static_cast<uint32_t>(std::bit_width(blocks - 1)) + 1;
}

// Reduces n >= 1 operands in the order of the tree, in aligned blocks of a power of two and with a stack of
// accumulators:
//   reduce(first, count, i)  accumulator i = Tree(first, first + count), count at most `block`
//   join(i)                  accumulator i = accumulator i op accumulator i + 1
// The result is accumulator 0.
template <class Reduce, class Join>
void WalkReductionTree(uint32_t n, uint32_t block, Reduce reduce, Join join) {
  uint32_t height = 0;
  for (uint32_t first = 0; first < n; first += block) {
    reduce(first, std::min(block, n - first), height++);
    // As in counting: a block completes as many larger ones as its index ends with ones. After the last block what is
    // left joins from the right, which is the tree of a size that is no power of two.
    const bool is_last = n - first <= block;
    for (uint32_t index = first / block; height > 1 && (is_last || index % 2 == 1); index /= 2) join(--height - 1);
  }
}

}  // namespace sgd::comm
