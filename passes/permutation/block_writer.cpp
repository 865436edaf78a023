// Reshapes to a dimension of blocks and back, around ops that have it as a batching dimension.
#include "passes/permutation/block_writer.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class BlockWriter {
 public:
  BlockWriter(Operation* op, int64_t blocks) : builder(op), loc(op->getLoc()), blocks(blocks) {}

  /// Dimension `dim` as one of blocks and one of rows of a block.
  RankedTensorType split(Type type, int64_t dim) const {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[dim] /= blocks;
    shape.insert(shape.begin() + dim, blocks);
    return tensor.clone(shape);
  }
  Value split(Value value, int64_t dim) { return ReshapeOp::create(builder, loc, split(value.getType(), dim), value); }
  Value join(Value value, Type type) { return ReshapeOp::create(builder, loc, type, value); }

  /// Indices into an operand's blocks of `rows` rows, from indices into all of it; blocks are along `dim`.
  Value toBlock(Value indices, int64_t dim, int64_t rows) {
    indices = split(indices, dim);
    RankedTensorType type = tensorType(indices);
    auto size = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), rows)));
    Value start = arith::MulIOp::create(builder, loc, IotaOp::create(builder, loc, type, dim), size);
    return arith::SubIOp::create(builder, loc, indices, start);
  }

  OpBuilder builder;
  Location loc;
  int64_t blocks;
};

/// Dimensions after one that became two: those behind it move by one.
SmallVector<int64_t> shifted(ArrayRef<int64_t> dims, int64_t split) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return dim > split ? dim + 1 : dim; });
}

/// Position `batch` among the dimensions of a tensor that are not in `windows`.
int64_t getBatchDim(ArrayRef<int64_t> windows, int64_t batch) {
  for (int64_t dim = 0;; ++dim)
    if (!llvm::is_contained(windows, dim) && batch-- == 0) return dim;
}

/// Position of dimension `indicesDim` of indices among those that are not the index vector's.
int64_t getBatch(int64_t indicesDim, int64_t vectorDim) { return indicesDim - (vectorDim < indicesDim ? 1 : 0); }
}  // namespace

void mlir::sgd::writeBlocks(SortOp sort, int64_t blocks) {
  BlockWriter writer(sort, blocks);
  SmallVector<Value> inputs;
  for (Value input : sort.getInputs()) inputs.push_back(writer.split(input, 0));
  auto blocked = SortOp::create(writer.builder, writer.loc, ValueRange(inputs).getTypes(), inputs, 1);
  blocked.getComparator().takeBody(sort.getComparator());
  for (auto [result, value] : llvm::zip(sort.getResults(), blocked.getResults()))
    result.replaceAllUsesWith(writer.join(value, result.getType()));
  sort.erase();
}

static Value writeGather(GatherOp op, const RowAccess& access, BlockWriter& writer) {
  int64_t vectorDim = op.getIndexVectorDim(), dim = access.operandDim;
  int64_t resultDim = getBatchDim(op.getOffsetDims(), getBatch(access.indicesDim, vectorDim));
  int64_t rows = tensorType(op.getInput()).getDimSize(dim) / writer.blocks;
  Value indices = writer.toBlock(op.getIndices(), access.indicesDim, rows);
  SmallVector<int64_t> sizes(op.getSliceSizes());
  sizes.insert(sizes.begin() + dim, 1);
  return GatherOp::create(writer.builder, writer.loc, writer.split(op.getType(), resultDim),
                          writer.split(op.getInput(), dim), indices, shifted(op.getOffsetDims(), resultDim),
                          ArrayRef<int64_t>{dim + 1}, ArrayRef<int64_t>{dim}, ArrayRef<int64_t>{access.indicesDim},
                          ArrayRef<int64_t>{dim + 1}, vectorDim > access.indicesDim ? vectorDim + 1 : vectorDim, sizes,
                          op.getUnsignedIndices());
}

static Value writeScatter(ScatterOp op, const RowAccess& access, BlockWriter& writer) {
  int64_t vectorDim = op.getIndexVectorDim(), dim = access.operandDim;
  int64_t updatesDim = getBatchDim(op.getUpdateWindowDims(), getBatch(access.indicesDim, vectorDim));
  int64_t rows = tensorType(op.getInput()).getDimSize(dim) / writer.blocks;
  Value indices = writer.toBlock(op.getIndices(), access.indicesDim, rows);
  return ScatterOp::create(writer.builder, writer.loc, writer.split(op.getType(), dim),
                           writer.split(op.getInput(), dim), indices, writer.split(op.getUpdates(), updatesDim),
                           op.getKind(), shifted(op.getUpdateWindowDims(), updatesDim), ArrayRef<int64_t>{dim + 1},
                           ArrayRef<int64_t>{dim}, ArrayRef<int64_t>{access.indicesDim}, ArrayRef<int64_t>{dim + 1},
                           vectorDim > access.indicesDim ? vectorDim + 1 : vectorDim, op.getUnsignedIndices(),
                           op.getUniqueIndices());
}

void mlir::sgd::writeBlocks(const RowAccess& access, int64_t blocks) {
  BlockWriter writer(access.op, blocks);
  Value result = access.op->getResult(0), blocked;
  if (auto gather = dyn_cast<GatherOp>(access.op))
    blocked = writeGather(gather, access, writer);
  else
    blocked = writeScatter(cast<ScatterOp>(access.op), access, writer);
  result.replaceAllUsesWith(writer.join(blocked, result.getType()));
  access.op->erase();
}
