// Registration of the SPMD-level dialect and verifiers of its collectives.
#include "dialects/spmd/spmd_dialect.h"

#include "dialects/spmd/collective_models.h"

using namespace mlir;
using namespace mlir::spmd;
using sgd::AxisListAttr;

#include "dialects/spmd/spmd_dialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/spmd/spmd_ops.cpp.inc"

void SpmdDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/spmd/spmd_ops.cpp.inc"
      >();
  attachCollectiveModels(*getContext());
}

std::optional<int64_t> mlir::spmd::getGroupSize(Operation* from, AxisListAttr axes) {
  sgd::MeshAttr mesh = sgd::lookupMesh(from, axes.getMesh());
  if (!mesh) return std::nullopt;
  int64_t size = 1;
  for (sgd::AxisRefAttr axis : axes.getAxes()) {
    if (!mesh.getAxisSize(axis.getName())) return std::nullopt;
    size *= axis.getNumShards(mesh);
  }
  return size;
}

LogicalResult mlir::spmd::verifyRange(Operation* op, sgd::RangeAttr range, ArrayRef<int64_t> source,
                                      ArrayRef<int64_t> target, int64_t tiles) {
  int64_t dim = range.getDim();
  if (dim >= static_cast<int64_t>(source.size()))
    return op->emitOpError() << "dimension " << dim << " is not in [0, " << source.size() << ")";
  if (source[dim] * tiles < range.getSize())
    return op->emitOpError() << tiles << " tiles of " << source[dim] << " elements do not hold a dimension of size "
                             << range.getSize();
  SmallVector<int64_t> shape(source);
  if (dim < static_cast<int64_t>(target.size())) shape[dim] = target[dim];
  if (target != ArrayRef<int64_t>(shape))
    return op->emitOpError() << "result shape should be [" << shape << "], with any size of dimension " << dim;
  return success();
}

namespace {
/// Says how one dimension of the operand and of the result relate: result = operand * multiply / divide along `dim`.
LogicalResult verifyDim(Operation* op, Type input, Type result, int64_t dim, int64_t multiply, int64_t divide) {
  auto from = cast<RankedTensorType>(input), to = cast<RankedTensorType>(result);
  if (dim < 0 || dim >= from.getRank())
    return op->emitOpError() << "dimension " << dim << " is not in [0, " << from.getRank() << ")";
  SmallVector<int64_t> shape(from.getShape());
  if (shape[dim] * multiply % divide != 0)
    return op->emitOpError() << "dimension " << dim << " (size " << shape[dim] << ") does not divide over " << divide
                             << " ranks";
  shape[dim] = shape[dim] * multiply / divide;
  if (to.getShape() != ArrayRef<int64_t>(shape) || to.getElementType() != from.getElementType())
    return op->emitOpError("result shape should be [") << shape << "]";
  return success();
}

FailureOr<int64_t> groupSize(Operation* op, AxisListAttr axes) {
  std::optional<int64_t> size = getGroupSize(op, axes);
  if (!size) return op->emitOpError() << "names an unknown mesh or axis in " << axes;
  // Axes are used as those of one dimension of a sharding may be.
  MLIRContext* context = op->getContext();
  auto dim = sgd::DimShardingAttr::get(context, axes.getAxes(), /*isOpen=*/false, std::nullopt);
  auto sharding = sgd::ShardingAttr::get(context, axes.getMesh(), dim, {}, {}, sgd::ReduceKind::Add);
  auto error = [&] { return op->emitOpError() << "has groups that do not partition the ranks: "; };
  if (failed(sharding.verifyAgainst(sgd::lookupMesh(op, axes.getMesh()), {*size}, error))) return failure();
  return *size;
}

LogicalResult verifyBucket(Operation* op, ValueRange inputs, ValueRange results, ArrayRef<int64_t> dims,
                           AxisListAttr axes, bool gathers) {
  if (inputs.empty() || inputs.size() != results.size() || inputs.size() != dims.size())
    return op->emitOpError("needs one result and one dimension per operand");
  FailureOr<int64_t> size = groupSize(op, axes);
  if (failed(size)) return failure();
  for (auto [input, result, dim] : llvm::zip(inputs, results, dims))
    if (failed(verifyDim(op, input.getType(), result.getType(), dim, gathers ? *size : 1, gathers ? 1 : *size)))
      return failure();
  return success();
}
}  // namespace

LogicalResult ShardSliceOp::verify() {
  FailureOr<int64_t> size = groupSize(*this, getAxes());
  return failed(size) ? failure() : verifyDim(*this, getInput().getType(), getType(), getDim(), 1, *size);
}

/// Sums of f8 would be rounded to 8 bits by each rank.
static LogicalResult verifySummands(Operation* op) {
  for (Type type : op->getOperandTypes())
    if (Type element = cast<RankedTensorType>(type).getElementType(); sgd::isFloat8(element))
      return op->emitOpError() << "cannot combine elements of type " << element << "; convert them to f32 first";
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifySummands(*this))) return failure();
  if (getInputs().empty() || getInputs().getTypes() != getResultTypes())
    return emitOpError("needs one result per operand, of the operand's type");
  return failed(groupSize(*this, getAxes())) ? failure() : success();
}

LogicalResult AllGatherOp::verify() {
  return verifyBucket(*this, getInputs(), getResults(), getDims(), getAxes(), /*gathers=*/true);
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifySummands(*this))) return failure();
  return verifyBucket(*this, getInputs(), getResults(), getDims(), getAxes(), /*gathers=*/false);
}

LogicalResult GatherRangeOp::verify() {
  if (getInputs().empty() || getInputs().size() != getResults().size() || getInputs().size() != getRanges().size())
    return emitOpError("needs one result and one range per operand");
  if (getAxes().getMesh() != getTo().getMesh()) return emitOpError("names two meshes");
  FailureOr<int64_t> tiles = groupSize(*this, getAxes());
  if (failed(tiles) || failed(groupSize(*this, getTo()))) return failure();
  for (auto [input, result, range] : llvm::zip(getInputs(), getResults(), getRanges().getAsRange<sgd::RangeAttr>())) {
    auto from = cast<RankedTensorType>(input.getType()), to = cast<RankedTensorType>(result.getType());
    if (from.getElementType() != to.getElementType()) return emitOpError("changes the element type");
    if (failed(verifyRange(*this, range, from.getShape(), to.getShape(), *tiles))) return failure();
  }
  return success();
}

LogicalResult AllToAllOp::verify() {
  FailureOr<int64_t> size = groupSize(*this, getAxes());
  if (failed(size)) return failure();
  auto from = cast<RankedTensorType>(getInput().getType()), to = cast<RankedTensorType>(getType());
  int64_t rank = from.getRank(), split = getSplit(), concat = getConcat();
  if (split < 0 || split >= rank || concat < 0 || concat >= rank)
    return emitOpError() << "split and concat must be in [0, " << rank << ")";
  SmallVector<int64_t> shape(from.getShape());
  if (shape[split] % *size != 0)
    return emitOpError() << "dimension " << split << " (size " << shape[split] << ") does not divide over " << *size
                         << " ranks";
  shape[split] /= *size;
  shape[concat] *= *size;
  if (to.getShape() != ArrayRef<int64_t>(shape)) return emitOpError("result shape should be [") << shape << "]";
  return success();
}
