// Reshapes to a dimension of blocks and back, around ops that have it as a batching dimension. Where blocks are rounded
// up, rows are padded before, and the padding is cut off afterwards: both happen in the last shards.
#include "passes/sharding/permutation/block_writer.h"

#include "dialects/sgd/tensor_type.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class BlockWriter {
 public:
  BlockWriter(Operation* op, const RowBlocks& rows) : builder(op), loc(op->getLoc()), rows(rows), blocks(rows.count) {}

  /// Dimension `dim` as one of blocks and one of rows of a block.
  RankedTensorType split(Type type, int64_t dim) const {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[dim] = llvm::divideCeil(shape[dim], blocks);
    shape.insert(shape.begin() + dim, blocks);
    return tensor.clone(shape);
  }
  /// `padding` is of the element type; zero where it is null.
  Value split(Value value, int64_t dim, TypedAttr padding = {}) {
    RankedTensorType type = split(value.getType(), dim);
    Value padded = pad(constrain(value, dim), dim, type.getDimSize(dim + 1) * blocks, padding);
    return constrain(ReshapeOp::create(builder, loc, type, padded), dim);
  }
  Value join(Value value, Type type, int64_t dim) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape()), starts(shape.size(), 0), strides(shape.size(), 1);
    shape[dim] = blocks * tensorType(value).getDimSize(dim + 1);
    Value joined = ReshapeOp::create(builder, loc, tensor.clone(shape), constrain(value, dim));
    if (joined.getType() != tensor)
      joined = SliceOp::create(builder, loc, tensor, joined, starts, tensor.getShape(), strides);
    return constrain(joined, dim);
  }

  /// Indices into an operand's blocks of `rows` rows, from indices into all of it; blocks are along `dim`. Padding is
  /// outside of all blocks.
  Value toBlock(Value indices, int64_t dim, int64_t rows) {
    Type element = tensorType(indices).getElementType();
    indices = split(indices, dim, builder.getIntegerAttr(element, blocks * rows));
    RankedTensorType type = tensorType(indices);
    auto size =
        arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getIntegerAttr(element, rows)));
    Value start = arith::MulIOp::create(builder, loc, IotaOp::create(builder, loc, type, dim), size);
    return arith::SubIOp::create(builder, loc, indices, start);
  }

  OpBuilder builder;
  Location loc;
  const RowBlocks& rows;
  int64_t blocks;

 private:
  Value constrain(Value value, int64_t dim) {
    if (rows.axes.empty()) return value;
    MLIRContext* context = builder.getContext();
    SmallVector<DimShardingAttr> dims(tensorType(value).getRank(),
                                      DimShardingAttr::get(context, {}, /*isOpen=*/true, std::nullopt));
    auto axes =
        llvm::map_to_vector(rows.axes, [&](const AxisPart& part) { return getAxisRef(rows.mesh.getMesh(), part); });
    dims[dim] = DimShardingAttr::get(context, axes, /*isOpen=*/false, std::nullopt);
    auto sharding = ShardingAttr::get(context, rows.mesh.getName(), dims, {}, {}, ReduceKind::Add);
    return ShardingConstraintOp::create(builder, loc, value, sharding);
  }
  Value pad(Value value, int64_t dim, int64_t size, TypedAttr padding) {
    RankedTensorType type = tensorType(value);
    if (type.getDimSize(dim) == size) return value;
    SmallVector<int64_t> none(type.getRank(), 0), high(none), shape(type.getShape());
    high[dim] = size - shape[dim];
    shape[dim] = size;
    if (!padding) padding = cast<TypedAttr>(builder.getZeroAttr(type.getElementType()));
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value filler = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, Attribute(padding)));
    return PadOp::create(builder, loc, type.clone(shape), value, filler, none, high, none);
  }
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

/// Behind all keys in ascending order: sorts are stable.
static TypedAttr getLargest(Type element) {
  auto type = dyn_cast<IntegerType>(element);
  return type ? IntegerAttr::get(type, APInt::getSignedMaxValue(type.getWidth())) : IntegerAttr();
}

void mlir::sgd::writeBlocks(SortOp sort, const RowBlocks& blocks) {
  BlockWriter writer(sort, blocks);
  SmallVector<Value> inputs;
  for (auto [number, input] : llvm::enumerate(sort.getInputs()))
    inputs.push_back(
        writer.split(input, 0, number == 0 ? getLargest(tensorType(input).getElementType()) : TypedAttr()));
  auto blocked = SortOp::create(writer.builder, writer.loc, ValueRange(inputs).getTypes(), inputs, 1);
  blocked.getComparator().takeBody(sort.getComparator());
  for (auto [result, value] : llvm::zip(sort.getResults(), blocked.getResults()))
    result.replaceAllUsesWith(writer.join(value, result.getType(), 0));
  sort.erase();
}

static Value writeGather(GatherOp op, const RowAccess& access, BlockWriter& writer) {
  int64_t vectorDim = op.getIndexVectorDim(), dim = access.operandDim;
  int64_t resultDim = getBatchDim(op.getOffsetDims(), getBatch(access.indicesDim, vectorDim));
  int64_t rows = writer.split(op.getInput().getType(), dim).getDimSize(dim + 1);
  Value indices = writer.toBlock(op.getIndices(), access.indicesDim, rows);
  SmallVector<int64_t> sizes(op.getSliceSizes());
  sizes.insert(sizes.begin() + dim, 1);
  Value blocked = GatherOp::create(
      writer.builder, writer.loc, writer.split(op.getType(), resultDim), writer.split(op.getInput(), dim), indices,
      shifted(op.getOffsetDims(), resultDim), ArrayRef<int64_t>{dim + 1}, ArrayRef<int64_t>{dim},
      ArrayRef<int64_t>{access.indicesDim}, ArrayRef<int64_t>{dim + 1},
      vectorDim > access.indicesDim ? vectorDim + 1 : vectorDim, sizes, op.getUnsignedIndices());
  return writer.join(blocked, op.getType(), resultDim);
}

static Value writeScatter(ScatterOp op, const RowAccess& access, BlockWriter& writer) {
  int64_t vectorDim = op.getIndexVectorDim(), dim = access.operandDim;
  int64_t updatesDim = getBatchDim(op.getUpdateWindowDims(), getBatch(access.indicesDim, vectorDim));
  int64_t rows = writer.split(op.getInput().getType(), dim).getDimSize(dim + 1);
  Value indices = writer.toBlock(op.getIndices(), access.indicesDim, rows);
  Value blocked = ScatterOp::create(
      writer.builder, writer.loc, writer.split(op.getType(), dim), writer.split(op.getInput(), dim), indices,
      writer.split(op.getUpdates(), updatesDim), op.getKind(), shifted(op.getUpdateWindowDims(), updatesDim),
      ArrayRef<int64_t>{dim + 1}, ArrayRef<int64_t>{dim}, ArrayRef<int64_t>{access.indicesDim},
      ArrayRef<int64_t>{dim + 1}, vectorDim > access.indicesDim ? vectorDim + 1 : vectorDim, op.getUnsignedIndices(),
      op.getUniqueIndices());
  return writer.join(blocked, op.getType(), dim);
}

void mlir::sgd::writeBlocks(const RowAccess& access, const RowBlocks& blocks) {
  BlockWriter writer(access.op, blocks);
  Value blocked;
  if (auto gather = dyn_cast<GatherOp>(access.op))
    blocked = writeGather(gather, access, writer);
  else
    blocked = writeScatter(cast<ScatterOp>(access.op), access, writer);
  access.op->getResult(0).replaceAllUsesWith(blocked);
  access.op->erase();
}
