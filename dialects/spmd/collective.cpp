// The one place that says of each collective op what it does.
#include "dialects/spmd/collective.h"

#include "dialects/spmd/collective_models.h"

using namespace mlir;
using namespace mlir::spmd;

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

void mlir::spmd::attachCollectiveModels(MLIRContext& context) {
  AllReduceOp::attachInterface<AllReduceModel>(context);
  AllGatherOp::attachInterface<AllGatherModel>(context);
  ReduceScatterOp::attachInterface<ReduceScatterModel>(context);
  AllToAllOp::attachInterface<AllToAllModel>(context);
  CollectivePermuteOp::attachInterface<PermuteModel>(context);
  BroadcastOp::attachInterface<BroadcastModel>(context);
  GatherRangeOp::attachInterface<GatherRangeModel>(context);
}
