// The one place that says of each collective op what it does and which types it takes.
#include "dialects/spmd/collective.h"

#include "dialects/sgd/tensor_layout.h"
#include "dialects/spmd/collective_models.h"
#include "runtime/comm/collectives/sent_bytes.h"

using namespace mlir;
using namespace mlir::spmd;
using mlir::sgd::AxisListAttr;

#include "dialects/spmd/collective.cpp.inc"

bool CollectiveForm::isLike(const CollectiveForm& other) const {
  return takesBuckets && kind == other.kind && group == other.group && reduce == other.reduce && to == other.to;
}

namespace {

/// Of ops that take one operand.
template <class Model, class Op>
struct Single : CollectiveOpInterface::ExternalModel<Model, Op> {
  Operation* createBucket(Operation*, OpBuilder&, Location, TypeRange, ValueRange, ArrayRef<int64_t>,
                          ArrayRef<Attribute>) const {
    return nullptr;
  }
};

struct AllReduceModel : CollectiveOpInterface::ExternalModel<AllReduceModel, AllReduceOp> {
  CollectiveForm getForm(Operation* base) const {
    auto op = cast<AllReduceOp>(base);
    return {.kind = CollectiveKind::kAllReduce,
            .group = op.getAxes(),
            .reduce = op.getKind(),
            .settles = op.getAxes(),
            .takesBuckets = true};
  }
  Operation* createBucket(Operation* base, OpBuilder& builder, Location loc, TypeRange results, ValueRange inputs,
                          ArrayRef<int64_t>, ArrayRef<Attribute>) const {
    auto op = cast<AllReduceOp>(base);
    return AllReduceOp::create(builder, loc, results, inputs, op.getKind(), op.getAxes());
  }
};

struct AllGatherModel : CollectiveOpInterface::ExternalModel<AllGatherModel, AllGatherOp> {
  CollectiveForm getForm(Operation* base) const {
    auto op = cast<AllGatherOp>(base);
    return {.kind = CollectiveKind::kAllGather,
            .group = op.getAxes(),
            .dims = SmallVector<int64_t>(op.getDims()),
            .settles = op.getAxes(),
            .takesBuckets = true};
  }
  Operation* createBucket(Operation* base, OpBuilder& builder, Location loc, TypeRange results, ValueRange inputs,
                          ArrayRef<int64_t> dims, ArrayRef<Attribute>) const {
    return AllGatherOp::create(builder, loc, results, inputs, dims, cast<AllGatherOp>(base).getAxes());
  }
};

struct ReduceScatterModel : CollectiveOpInterface::ExternalModel<ReduceScatterModel, ReduceScatterOp> {
  CollectiveForm getForm(Operation* base) const {
    auto op = cast<ReduceScatterOp>(base);
    return {.kind = CollectiveKind::kReduceScatter,
            .group = op.getAxes(),
            .reduce = op.getKind(),
            .dims = SmallVector<int64_t>(op.getDims()),
            .divides = op.getAxes(),
            .takesBuckets = true};
  }
  Operation* createBucket(Operation* base, OpBuilder& builder, Location loc, TypeRange results, ValueRange inputs,
                          ArrayRef<int64_t> dims, ArrayRef<Attribute>) const {
    auto op = cast<ReduceScatterOp>(base);
    return ReduceScatterOp::create(builder, loc, results, inputs, op.getKind(), dims, op.getAxes());
  }
};

struct GatherRangeModel : CollectiveOpInterface::ExternalModel<GatherRangeModel, GatherRangeOp> {
  CollectiveForm getForm(Operation* base) const {
    auto op = cast<GatherRangeOp>(base);
    return {.kind = CollectiveKind::kGatherRange,
            .group = op.getAxes(),
            .ranges = op.getRanges(),
            .to = op.getTo(),
            .settles = op.getAxes(),
            .divides = op.getTo(),
            .takesBuckets = true};
  }
  Operation* createBucket(Operation* base, OpBuilder& builder, Location loc, TypeRange results, ValueRange inputs,
                          ArrayRef<int64_t>, ArrayRef<Attribute> ranges) const {
    auto op = cast<GatherRangeOp>(base);
    return GatherRangeOp::create(builder, loc, results, inputs, builder.getArrayAttr(ranges), op.getAxes(), op.getTo());
  }
};

struct AllToAllModel : Single<AllToAllModel, AllToAllOp> {
  CollectiveForm getForm(Operation* base) const {
    auto op = cast<AllToAllOp>(base);
    return {.kind = CollectiveKind::kAllToAll,
            .group = op.getAxes(),
            .dims = {static_cast<int64_t>(op.getSplit()), static_cast<int64_t>(op.getConcat())},
            .divides = op.getAxes()};
  }
};

struct PermuteModel : Single<PermuteModel, CollectivePermuteOp> {
  CollectiveForm getForm(Operation* base) const {
    auto op = cast<CollectivePermuteOp>(base);
    return {.kind = CollectiveKind::kPermute, .group = op.getTo(), .from = op.getFrom()};
  }
};

struct BroadcastModel : Single<BroadcastModel, BroadcastOp> {
  CollectiveForm getForm(Operation* base) const {
    mlir::sgd::AxisListAttr axes = cast<BroadcastOp>(base).getAxes();
    return {.kind = CollectiveKind::kBroadcast, .group = axes, .settles = axes};
  }
};

}  // namespace

uint64_t mlir::spmd::getCountedBytes(CollectiveOpInterface collective) {
  bool countsResults = ::sgd::comm::CountsResults(collective.getCollectiveKind());
  uint64_t bytes = 0;
  for (Type type : countsResults ? TypeRange(collective->getResultTypes()) : TypeRange(collective->getOperandTypes()))
    bytes += mlir::sgd::getByteSize(type);
  return bytes;
}

void mlir::spmd::attachCollectiveModels(MLIRContext& context) {
  AllReduceOp::attachInterface<AllReduceModel>(context);
  AllGatherOp::attachInterface<AllGatherModel>(context);
  ReduceScatterOp::attachInterface<ReduceScatterModel>(context);
  AllToAllOp::attachInterface<AllToAllModel>(context);
  CollectivePermuteOp::attachInterface<PermuteModel>(context);
  BroadcastOp::attachInterface<BroadcastModel>(context);
  GatherRangeOp::attachInterface<GatherRangeModel>(context);
}

namespace {
/// Says how one dimension of the operand and of the result relate: result = operand * multiply / divide along `dim`.
LogicalResult verifyDim(Operation* op, Type input, Type result, int64_t dim, int64_t multiply, int64_t divide) {
  auto from = cast<RankedTensorType>(input), to = cast<RankedTensorType>(result);
  if (dim < 0 || dim >= from.getRank())
    return op->emitOpError() << "has no dimension " << dim << " in " << from
                             << "; expected one of the tensor, counted from 0; correct it";
  SmallVector<int64_t> shape(from.getShape());
  if (shape[dim] * multiply % divide != 0)
    return op->emitOpError() << "dimension " << dim << " (size " << shape[dim] << ") does not divide over " << divide
                             << " ranks; expected a multiple; pad the tensor";
  shape[dim] = shape[dim] * multiply / divide;
  if (to.getShape() != ArrayRef<int64_t>(shape) || to.getElementType() != from.getElementType())
    return op->emitOpError() << "has the result " << to << "; expected the shape [" << shape
                             << "] and the operand's element type; correct the result's type";
  return success();
}

FailureOr<int64_t> groupSize(Operation* op, AxisListAttr axes) {
  std::optional<int64_t> size = getGroupSize(op, axes);
  if (!size)
    return op->emitOpError() << "names an unknown mesh or axis in " << axes
                             << "; expected those of the module's "
                                "sgd.mesh; correct the name";
  // Axes are used as those of one dimension of a sharding may be.
  MLIRContext* context = op->getContext();
  auto dim = mlir::sgd::DimShardingAttr::get(context, axes.getAxes(), /*isOpen=*/false, std::nullopt);
  auto sharding = mlir::sgd::ShardingAttr::get(context, axes.getMesh(), dim, {}, {}, mlir::sgd::ReduceKind::Add);
  auto error = [&] { return op->emitOpError() << "has groups that do not partition the ranks: "; };
  if (failed(sharding.verifyAgainst(mlir::sgd::lookupMesh(op, axes.getMesh()), {*size}, error))) return failure();
  return *size;
}

LogicalResult verifyBucket(Operation* op, ValueRange inputs, ValueRange results, ArrayRef<int64_t> dims,
                           AxisListAttr axes, bool gathers) {
  if (inputs.empty() || inputs.size() != results.size() || inputs.size() != dims.size())
    return op->emitOpError() << "has " << inputs.size() << " operands, " << results.size() << " results and "
                             << dims.size() << " dimensions; expected as many of each, and one at least; give as many";
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
    if (Type element = cast<RankedTensorType>(type).getElementType(); mlir::sgd::isFloat8(element))
      return op->emitOpError() << "cannot combine elements of type " << element
                               << "; expected wider ones; convert them to f32 first";
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifySummands(*this))) return failure();
  if (getInputs().empty() || getInputs().getTypes() != getResultTypes())
    return emitOpError() << "has operands of the types " << getInputs().getTypes() << " and results of "
                         << getResultTypes() << "; expected the same types, and one at least; correct the results";
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
    return emitOpError() << "has " << getInputs().size() << " operands, " << getResults().size() << " results and "
                         << getRanges().size() << " ranges; expected as many of each, and one at least; give as many";
  if (getAxes().getMesh() != getTo().getMesh())
    return emitOpError() << "names the meshes " << getAxes().getMesh() << " and " << getTo().getMesh()
                         << "; expected one; use axes of one mesh";
  FailureOr<int64_t> tiles = groupSize(*this, getAxes());
  if (failed(tiles) || failed(groupSize(*this, getTo()))) return failure();
  for (auto [input, result, range] :
       llvm::zip(getInputs(), getResults(), getRanges().getAsRange<mlir::sgd::RangeAttr>())) {
    auto from = cast<RankedTensorType>(input.getType()), to = cast<RankedTensorType>(result.getType());
    if (from.getElementType() != to.getElementType())
      return emitOpError() << "changes the element type from " << from.getElementType() << " to " << to.getElementType()
                           << "; expected one type; convert before or after";
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
    return emitOpError() << "has split " << split << " and concat " << concat << "; expected dimensions of " << from
                         << ", counted from 0; correct them";
  SmallVector<int64_t> shape(from.getShape());
  if (shape[split] % *size != 0)
    return emitOpError() << "dimension " << split << " (size " << shape[split] << ") does not divide over " << *size
                         << " ranks; expected a multiple; pad the tensor";
  shape[split] /= *size;
  shape[concat] *= *size;
  if (to.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "has the result " << to << "; expected the shape [" << shape
                         << "]; correct the result's type";
  return success();
}
