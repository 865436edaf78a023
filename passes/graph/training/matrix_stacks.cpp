// Full stacks first, then what is left of each size.
#include "passes/graph/training/matrix_stacks.h"

#include <algorithm>
#include <numeric>
#include <map>
#include <tuple>

using namespace mlir;
using namespace mlir::sgd;

/// Bytes of the gradients of a stack, all of which are there before one is sent.
static constexpr int64_t kStackBytes = 4 << 20;

std::optional<std::pair<AxisParts, AxisParts>> mlir::sgd::splitOwners(ArrayRef<AxisPart> axes, int64_t owners) {
  std::pair<AxisParts, AxisParts> split;
  for (const AxisPart& axis : axes) {
    int64_t outer = std::gcd(owners, axis.size);
    // Behind an axis of which a part is left, owners differ on none.
    if (outer != axis.size && outer != owners) return std::nullopt;
    owners /= outer;
    if (outer > 1) split.first.push_back({axis.axis, axis.begin, outer});
    if (outer < axis.size) split.second.push_back({axis.axis, axis.begin * outer, axis.size / outer});
  }
  if (owners != 1) return std::nullopt;
  return split;
}

namespace {

/// Deals out matrices of one size and kind.
class StackSearch {
 public:
  StackSearch(ArrayRef<StackableMatrix> matrices, const MatrixRanks& ranks) : matrices(matrices), ranks(ranks) {}

  void run(ArrayRef<unsigned> positions, SmallVectorImpl<MatrixStack>& stacks) const {
    const StackableMatrix& first = matrices[positions.front()];
    int64_t ofRank = std::max<int64_t>(1, kStackBytes / (ranks.size * first.rows * first.columns * 4));
    while (static_cast<int64_t>(positions.size()) >= ranks.size) {
      int64_t count = std::min<int64_t>(positions.size(), ofRank * ranks.size);
      take(positions, count - count % ranks.size, ranks.size, stacks);
    }
    auto count = static_cast<int64_t>(positions.size());
    if (count > 1 && getEmptyBytes(count) < getSharedBytes(count)) {
      stacks.push_back({SmallVector<unsigned>(positions), ranks.size, ranks.size});
      return;
    }
    for (int64_t owners; (owners = getOwners(positions.size())) > 1;) take(positions, owners, owners, stacks);
  }

 private:
  static void take(ArrayRef<unsigned>& positions, int64_t count, int64_t owners, SmallVectorImpl<MatrixStack>& stacks) {
    stacks.push_back({SmallVector<unsigned>(positions.take_front(count)), count, owners});
    positions = positions.drop_front(count);
  }

  /// The most owners of at most `count` matrices.
  int64_t getOwners(int64_t count) const {
    for (int64_t owners = std::min(count, ranks.size); owners > 1; --owners)
      if (ranks.size % owners == 0 && splitOwners(ranks.parts, owners)) return owners;
    return 1;
  }

  // Sent by a rank beside reduced gradients and gathered parameters, of which it sends (ranks - 1) / ranks of a
  // matrix each, for `count` matrices. In matrices.

  /// Empty slots are reduced, and gathered with sharded parameters, or with the steps.
  double getEmptyBytes(int64_t count) const {
    auto size = static_cast<double>(ranks.size);
    return 2 * (size - static_cast<double>(count)) * (size - 1) / size;
  }
  /// The ranks that own a matrix together gather its direction.
  double getSharedBytes(int64_t count) const {
    double matrices = 0;
    while (count > 0) {
      int64_t owners = getOwners(count);
      matrices += 1 - static_cast<double>(owners) / static_cast<double>(ranks.size);
      count -= owners;
    }
    return matrices;
  }

  ArrayRef<StackableMatrix> matrices;
  const MatrixRanks& ranks;
};

}  // namespace

SmallVector<MatrixStack> mlir::sgd::stackMatrices(ArrayRef<StackableMatrix> matrices, const MatrixRanks& ranks) {
  if (ranks.size < 2 || !ranks.stacks) return {};
  std::map<std::tuple<unsigned, int64_t, int64_t>, SmallVector<unsigned>> groups;
  for (auto [position, matrix] : llvm::enumerate(matrices)) {
    if (matrix.rows == 0 || matrix.columns == 0) continue;
    auto [shortSide, longSide] = std::minmax(matrix.rows, matrix.columns);
    groups[{matrix.kind, shortSide, longSide}].push_back(position);
  }
  SmallVector<MatrixStack> stacks;
  for (const auto& [group, positions] : groups) StackSearch(matrices, ranks).run(positions, stacks);
  // Ranks that own a matrix together hold equal numbers of its rows.
  llvm::erase_if(stacks, [&](const MatrixStack& stack) {
    return llvm::any_of(stack.matrices,
                        [&](unsigned position) { return matrices[position].rows % (ranks.size / stack.owners) != 0; });
  });
  return stacks;
}
