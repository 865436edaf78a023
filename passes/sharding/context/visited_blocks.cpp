// Asks interval arithmetic about each pair of blocks.
#include "passes/sharding/context/visited_blocks.h"

#include "passes/graph/attention/index_ranges.h"

using namespace mlir;
using namespace mlir::sgd;

/// Pairs of blocks, and rows, to ask about; beyond, all blocks are visited.
static constexpr int64_t kMostRanks = 128, kMostRows = 1 << 17;

namespace {
class Mask {
 public:
  explicit Mask(const AttentionPattern& pattern)
      : scores(pattern.scores),
        rowDim(llvm::find(scores.maskDims, pattern.row) - scores.maskDims.begin()),
        columnDim(llvm::find(scores.maskDims, pattern.getColumn()) - scores.maskDims.begin()),
        box(getWholeBox(scores.mask)) {}

  bool isAll(IndexRange rows, IndexRange columns, bool visible) {
    box[rowDim] = rows;
    box[columnDim] = columns;
    return getTruth(scores.mask, box) == (visible != scores.hidesWhereTrue);
  }

 private:
  const AttentionScores& scores;
  size_t rowDim, columnDim;
  IndexBox box;
};
}  // namespace

int64_t mlir::sgd::countVisitedBlocks(const AttentionPattern& pattern, int64_t ranks) {
  int64_t rows = pattern.shape[pattern.row], columns = pattern.shape[pattern.getColumn()];
  bool isMasked = pattern.scores.mask && pattern.scores.fill <= kMaskedScore;
  if (!isMasked || rows != columns || rows > kMostRows || ranks > kMostRanks) return ranks;
  Mask mask(pattern);
  int64_t size = llvm::divideCeil(rows, ranks);
  auto block = [&](int64_t number) {
    int64_t begin = std::min(number * size, rows);
    return IndexRange{begin, std::min(size, rows - begin)};
  };
  auto isHidden = [&](int64_t distance) {
    return llvm::all_of(llvm::seq<int64_t>(0, ranks), [&](int64_t number) {
      IndexRange own = block(number), other = block((number + ranks - distance) % ranks);
      return own.size == 0 || other.size == 0 || mask.isAll(own, other, /*visible=*/false);
    });
  };
  int64_t visited = ranks;
  while (visited > 1 && isHidden(visited - 1)) --visited;
  if (visited == ranks) return ranks;
  // A row that sees nothing weighs all columns alike.
  bool seesItself = llvm::all_of(llvm::seq<int64_t>(0, rows),
                                 [&](int64_t row) { return mask.isAll({row, 1}, {row, 1}, /*visible=*/true); });
  return seesItself ? visited : ranks;
}
