// How a group is cut: batch dimensions become loops, the largest other common dimension is cut into blocks of rows, and
// masked columns are left out.
#include "passes/kernels/tiles/tile_group.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/kernels/library/contraction_shape.h"
#include "passes/kernels/order/buffers.h"
#include "passes/kernels/tiles/masked_columns.h"

using namespace mlir;
using namespace mlir::sgd;

/// Values between the ops of a tile are worth keeping in the cache from this size on.
static constexpr int64_t kLeastTileBytes = 32 << 10;
/// Without a batch dimension all of it is computed by one thread: from this size on, rather than kept in memory.
static constexpr int64_t kLeastUnloopedBytes = 128 << 20;
/// Rows of a block: matmuls of fewer rows run much slower, more rows leave out fewer masked columns.
static constexpr int64_t kRowChoices[] = {64, 32, 16};
/// Blocks of a tile, which bounds the size of the plan.
static constexpr int64_t kMaxBlocks = 64;
/// Different numbers of columns, each of which needs kernels of its own.
static constexpr int64_t kColumnChoices = 4;
/// Kernels' buffers begin at multiples of it.
static constexpr int64_t kAlignment = 64;

static int64_t elementBytes(Value value) {
  return getByteSize(RankedTensorType::get({1}, getElementTypeOrSelf(value.getType())));
}

TileGroup::TileGroup(SmallVector<Operation*> members) : ops(std::move(members)), dims(ops) {
  for (Operation* op : ops)
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp() || !contains(operand.getDefiningOp())) inputs.insert(operand);
  for (Operation* op : ops)
    for (Value result : op->getResults())
      if (!isInternal(result)) outputs.insert(result);
}

bool TileGroup::isInternal(Value value) const {
  return llvm::all_of(value.getUsers(), [&](Operation* user) { return contains(user); });
}

bool TileGroup::sumsOverRows(Operation* op) const {
  return row && isa<fusion::MatmulOp>(op) && !dims.has(op->getResult(0), *row);
}

IndexBox TileGroup::getTileBox(Value value) const {
  IndexBox box = getWholeBox(value);
  for (unsigned loop : loops)
    if (int64_t dim = dims.getDim(value, loop); dim >= 0) box[dim] = {0, 1};
  return box;
}

IndexBox TileGroup::getBox(Value value, const RowBlock& block) const {
  IndexBox box = getTileBox(value);
  if (row)
    if (int64_t dim = dims.getDim(value, *row); dim >= 0) box[dim] = {block.begin, block.size};
  if (column)
    if (int64_t dim = dims.getDim(value, *column); dim >= 0) box[dim] = {0, block.columns};
  return box;
}

bool TileGroup::isContiguous(Value value, const IndexBox& box) const {
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t stride = elementBytes(value), offset = 0;
  bool isWhole = true;  // all dimensions inside of this one are
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (box[dim].size != 1 && !isWhole) return false;
    isWhole &= box[dim].size == shape[dim];
    offset += box[dim].begin * stride;
    bool isLoop = llvm::any_of(
        loops, [&](unsigned loop) { return dims.getDim(value, loop) == static_cast<int64_t>(dim) && shape[dim] > 1; });
    if (isLoop && stride % kAlignment != 0) return false;
    stride *= shape[dim];
  }
  return offset % kAlignment == 0;
}

// Loops
// -----------------------------------------------------------------------------------------------------------------

/// Batch dimensions of all contractions that no cluster mixes.
bool TileGroup::chooseLoops() {
  unsigned contractions = llvm::count_if(ops, [](Operation* op) { return isa<fusion::MatmulOp>(op); });
  auto matmul = llvm::find_if(ops, [](Operation* op) { return isa<fusion::MatmulOp>(op); });
  Value first = (*matmul)->getResult(0);
  for (auto [dim, size] : llvm::enumerate(shapeOf(first))) {
    unsigned number = dims.getClass(first, dim);
    const DimClass& candidate = dims[number];
    bool cutsAll = llvm::all_of(ops, [&](Operation* op) {
      return llvm::all_of(op->getResults(), [&](Value result) { return dims.has(result, number); });
    });
    if (size > 1 && candidate.batchCount == contractions && !candidate.isWhole && !candidate.isReduced &&
        !candidate.isIndexed && cutsAll)
      loops.push_back(number);
  }
  return !loops.empty() || getInternalBytes(0) >= kLeastUnloopedBytes;
}

// Rows and columns
// ------------------------------------------------------------------------------------------------------

bool TileGroup::canBeCutInRows(unsigned candidate) const {
  const DimClass& dim = dims[candidate];
  if (dim.isWhole || dim.isReduced || llvm::is_contained(loops, candidate)) return false;
  return llvm::all_of(ops, [&](Operation* op) {
    bool isRead = llvm::any_of(op->getOperands(), [&](Value operand) { return dims.has(operand, candidate); });
    bool isSum = isa<fusion::MatmulOp>(op) && !dims.has(op->getResult(0), candidate);
    if (isSum && !canAccumulateInPlace(getElementTypeOrSelf(op->getResult(0)))) return false;
    if (isSum) return isRead && !isInternal(op->getResult(0));
    return llvm::all_of(op->getResults(), [&](Value result) {
      if (!dims.has(result, candidate)) return false;
      // A kernel writes its part of an output in one piece.
      IndexBox part = getTileBox(result);
      part[dims.getDim(result, candidate)] = {kRowChoices[2], kRowChoices[2]};
      return isa<fusion::MatmulOp>(op) || isInternal(result) || isContiguous(result, part);
    });
  });
}

std::optional<unsigned> TileGroup::chooseRow() const {
  std::optional<unsigned> best;
  for (Operation* op : ops) {
    auto cluster = dyn_cast<fusion::ClusterOp>(op);
    if (!cluster) continue;
    for (Value operand : cluster.getInputs())
      for (int64_t dim = 0; dim < static_cast<int64_t>(shapeOf(operand).size()); ++dim) {
        unsigned candidate = dims.getClass(operand, dim);
        if (canBeCutInRows(candidate) && (!best || dims[candidate].size > dims[*best].size)) best = candidate;
      }
  }
  return best;
}

/// The one dimension that clusters reduce over. Where they reduce none (gradients from a softmax's rows that are
/// known), the one that their results have besides loops and rows.
std::optional<unsigned> TileGroup::chooseColumn() const {
  SetVector<unsigned> reduced, others;
  for (Operation* op : ops) {
    if (!isa<fusion::ClusterOp>(op)) continue;
    for (Value operand : op->getOperands())
      for (int64_t dim = 0; dim < static_cast<int64_t>(shapeOf(operand).size()); ++dim)
        if (dims[dims.getClass(operand, dim)].isReduced) reduced.insert(dims.getClass(operand, dim));
    for (Value result : op->getResults())
      for (auto [dim, size] : llvm::enumerate(shapeOf(result))) {
        unsigned number = dims.getClass(result, dim);
        if (size > 1 && number != row && !llvm::is_contained(loops, number)) others.insert(number);
      }
  }
  const SetVector<unsigned>& candidates = reduced.empty() ? others : reduced;
  if (candidates.size() != 1 || dims[candidates[0]].isWhole || candidates[0] == row) return std::nullopt;
  return candidates[0];
}

int64_t TileGroup::getInternalBytes(int64_t rows) const {
  int64_t bytes = 0;
  for (Operation* op : ops)
    for (Value result : op->getResults()) {
      if (!isInternal(result) || result.use_empty()) continue;
      int64_t own = elementBytes(result);
      for (auto [dim, range] : llvm::enumerate(getTileBox(result)))
        own *= row && rows != 0 && dims.getClass(result, dim) == *row ? std::min(rows, range.size) : range.size;
      bytes += own;
    }
  return bytes;
}

bool TileGroup::chooseBlocks(int64_t scratchBytes) {
  row = chooseRow();
  column = chooseColumn();
  int64_t columns = column ? dims[*column].size : 0;
  if (!row) {
    blocks.push_back({0, 0, columns});
    return getInternalBytes(0) <= scratchBytes;
  }
  int64_t rows = kRowChoices[0], all = dims[*row].size;
  for (int64_t choice : kRowChoices) {
    rows = choice;
    if (getInternalBytes(choice) <= scratchBytes) break;
  }
  rows = std::max<int64_t>(rows, llvm::alignTo(llvm::divideCeil(all, kMaxBlocks), kRowChoices[0]));
  if (all / rows < kMaxBlocks) rows = std::min(rows, all);
  for (int64_t begin = 0; begin < all; begin += rows) blocks.push_back({begin, std::min(rows, all - begin), columns});
  return true;
}

/// Blocks with more columns come first: what adds up over blocks is then written whole by the first one.
void TileGroup::limitColumns() {
  if (!row || !column) return;
  int64_t all = dims[*column].size, step = llvm::alignTo(llvm::divideCeil(all, kColumnChoices), 16);
  for (RowBlock& block : blocks)
    for (int64_t columns = step; columns < all; columns += step) {
      RowBlock candidate{block.begin, block.size, columns};
      if (!canLeaveOutColumns(*this, candidate)) continue;
      block.columns = columns;
      break;
    }
  llvm::sort(blocks, [](const RowBlock& a, const RowBlock& b) {
    return std::make_pair(-a.columns, a.begin) < std::make_pair(-b.columns, b.begin);
  });
  blocks.front().columns = all;
}

// Checks
// ----------------------------------------------------------------------------------------------------------------

bool TileGroup::haveStridedForms() const {
  auto label = [&](Value value, ArrayRef<int64_t> labels, SmallVectorImpl<int64_t>& sizes,
                   SmallVectorImpl<int64_t>& strides) {
    for (IndexRange range : getBox(value, blocks.front())) sizes.push_back(range.size);
    // Between ops of the group values have the shape of the tile; others are parts of whole ones.
    bool isOwn = value.getDefiningOp() && contains(value.getDefiningOp()) && isInternal(value);
    strides = getRowMajorStrides(isOwn ? ArrayRef<int64_t>(sizes) : shapeOf(value));
    return LabelledTensor{labels, sizes, strides};
  };
  return llvm::all_of(ops, [&](Operation* op) {
    auto matmul = dyn_cast<fusion::MatmulOp>(op);
    if (!matmul) return true;
    SmallVector<int64_t> sizes[3], strides[3];
    return getContractionShape(label(matmul.getLhs(), matmul.getLhsLabels(), sizes[0], strides[0]),
                               label(matmul.getRhs(), matmul.getRhsLabels(), sizes[1], strides[1]),
                               label(matmul.getResult(), matmul.getResultLabels(), sizes[2], strides[2]),
                               canAccumulateInPlace(matmul.getType().getElementType()))
        .has_value();
  });
}

bool TileGroup::areKernelOperandsContiguous() const {
  return llvm::all_of(ops, [&](Operation* op) {
    if (isa<fusion::MatmulOp>(op)) return true;
    auto isPart = [&](Value value) { return isContiguous(value, getTileBox(value)); };
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return !inputs.contains(operand) || isPart(operand); }) &&
           llvm::all_of(op->getResults(), [&](Value result) { return isInternal(result) || isPart(result); });
  });
}

bool TileGroup::cut(int64_t scratchBytes) {
  if (!chooseLoops() || getInternalBytes(0) < kLeastTileBytes || !areKernelOperandsContiguous() ||
      !chooseBlocks(scratchBytes))
    return false;
  limitColumns();
  return haveStridedForms();
}
