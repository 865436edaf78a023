// The pass spmd-merge-ranges. Per operand: ranges in the order of their offsets, joined greedily while that sends no
// more; then those that other ranks send travel together. A sweep over whole blocks, since ranges of one operand may
// stand anywhere in one.
#include "dialects/sgd/decision.h"
#include "llvm/ADT/MapVector.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/collectives/passes.h"
#include "passes/spmd/partition/ranges.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_MERGERANGESPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Elements [begin, end) from where every rank's index puts them, and who wants some of them.
struct Joined {
  int64_t begin, end;
  SmallVector<spmd::GatherRangeOp> members;
  uint64_t bytes;  // that are sent
};

RangeAttr getRange(spmd::GatherRangeOp op) { return cast<RangeAttr>(op.getRanges()[0]); }

RankedTensorType getResultType(spmd::GatherRangeOp op) { return cast<RankedTensorType>(op.getResult(0).getType()); }

/// The one range of all elements.
RangeAttr getRange(const Joined& joined) {
  RangeAttr like = getRange(joined.members.front());
  return RangeAttr::get(like.getContext(), like.getDim(), like.getSize(), like.getScale(), joined.begin,
                        /*divisor=*/1, /*step=*/1);
}

RankedTensorType getResultType(const Joined& joined) {
  RankedTensorType type = getResultType(joined.members.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[getRange(joined.members.front()).getDim()] = joined.end - joined.begin;
  return type.clone(shape);
}

uint64_t countBytes(spmd::GatherRangeOp op, RangeAttr range, RankedTensorType result) {
  MeshAttr mesh = lookupMesh(op, op.getAxes().getMesh());
  return getSentBytes(mesh, range, cast<RankedTensorType>(op.getInputs()[0].getType()), result,
                      getParts(mesh, op.getAxes().getAxes()), getParts(mesh, op.getTo().getAxes()));
}

Joined makeJoined(spmd::GatherRangeOp op) {
  RangeAttr range = getRange(op);
  int64_t reach = (getResultType(op).getDimSize(range.getDim()) - 1) * range.getStep() + 1;
  return {range.getOffset(), range.getOffset() + reach, {op}, countBytes(op, range, getResultType(op))};
}

struct MergeRangesPass : mlir::sgd::impl::MergeRangesPassBase<MergeRangesPass> {
  void runOnOperation() override {
    for (Block* program : getProgramBlocks(getOperation())) {
      Block& block = *program;
      // Ranges merge when these are equal: operand, dimension and its size, how ranks follow one another, groups.
      using Key = std::tuple<Value, int64_t, int64_t, int64_t, Attribute, Attribute>;
      llvm::MapVector<Key, SmallVector<spmd::GatherRangeOp>> alike;
      for (auto op : block.getOps<spmd::GatherRangeOp>()) {
        RangeAttr range = getRange(op);
        if (op.getInputs().size() != 1 || range.getDivisor() != 1 || getResultType(op).getNumElements() == 0) continue;
        alike[{op.getInputs()[0], range.getDim(), range.getSize(), range.getScale(), op.getAxes(), op.getTo()}]
            .push_back(op);
      }
      for (auto& [key, ops] : alike)
        if (ops.size() > 1) merge(ops);
      gatherTogether(block);
    }
  }

  /// Ranges of one operand that different ranks send, such as both parts of a rotation: one collective, in which no
  /// rank sends as much as in all of them one after another.
  void gatherTogether(Block& block) {
    using Key = std::tuple<Value, Attribute, Attribute>;
    llvm::MapVector<Key, SmallVector<spmd::GatherRangeOp>> byOperand;
    for (auto op : block.getOps<spmd::GatherRangeOp>())
      if (op.getInputs().size() == 1) byOperand[{op.getInputs()[0], op.getAxes(), op.getTo()}].push_back(op);
    for (auto& [key, ops] : byOperand) {
      if (ops.size() < 2) continue;
      MeshAttr mesh = lookupMesh(ops[0], ops[0].getAxes().getMesh());
      SmallVector<RangeLoad> loads;
      uint64_t apart = 0;
      for (spmd::GatherRangeOp op : ops) {
        loads.push_back(
            getRangeLoad(getRange(op), cast<RankedTensorType>(op.getInputs()[0].getType()), getResultType(op)));
        apart += countBytes(op, getRange(op), getResultType(op));
      }
      uint64_t together = CostModel::getMostSentBytes(getMeshSizes(mesh), getParts(mesh, ops[0].getAxes().getAxes()),
                                                      getParts(mesh, ops[0].getTo().getAxes()), loads);
      if (together < apart) emitTogether(ops);
    }
  }

  void emitTogether(ArrayRef<spmd::GatherRangeOp> ops) {
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    SmallVector<Attribute> ranges;
    for (spmd::GatherRangeOp op : ops) {
      inputs.push_back(op.getInputs()[0]);
      types.push_back(op.getResult(0).getType());
      ranges.push_back(getRange(op));
    }
    spmd::GatherRangeOp first = ops[0];
    OpBuilder builder(first);
    auto all = spmd::GatherRangeOp::create(builder, first.getLoc(), types, inputs, builder.getArrayAttr(ranges),
                                           first.getAxes(), first.getTo());
    mergeDecisions(all, llvm::map_to_vector(ops, [](auto op) { return op.getOperation(); }));
    for (auto [op, result] : llvm::zip(SmallVector<spmd::GatherRangeOp>(ops), all.getResults())) {
      op.getResult(0).replaceAllUsesWith(result);
      op.erase();
    }
    numMerged += ops.size() - 1;
  }

  void merge(ArrayRef<spmd::GatherRangeOp> ops) {
    SmallVector<Joined> ranges = llvm::map_to_vector(ops, makeJoined);
    llvm::sort(ranges, [](const Joined& a, const Joined& b) {
      if (a.begin != b.begin) return a.begin < b.begin;
      return a.members[0] != b.members[0] && a.members[0]->isBeforeInBlock(b.members[0]);
    });
    Joined current = ranges.front();
    for (const Joined& next : ArrayRef(ranges).drop_front()) {
      Joined both = current;
      both.end = std::max(both.end, next.end);
      llvm::append_range(both.members, next.members);
      both.bytes = countBytes(both.members.front(), getRange(both), getResultType(both));
      if (both.bytes <= current.bytes + next.bytes) {
        current = both;
      } else {
        emit(current);
        current = next;
      }
    }
    emit(current);
  }

  void emit(const Joined& joined) {
    if (joined.members.size() == 1) return;
    spmd::GatherRangeOp first = *llvm::min_element(
        joined.members, [](spmd::GatherRangeOp a, spmd::GatherRangeOp b) { return a->isBeforeInBlock(b); });
    OpBuilder builder(first);
    auto all = spmd::GatherRangeOp::create(builder, first.getLoc(), TypeRange{getResultType(joined)}, first.getInputs(),
                                           builder.getArrayAttr({getRange(joined)}), first.getAxes(), first.getTo());
    mergeDecisions(all, llvm::map_to_vector(joined.members, [](auto op) { return op.getOperation(); }));
    for (spmd::GatherRangeOp member : joined.members) {
      RangeAttr range = getRange(member);
      int64_t rank = getResultType(joined).getRank(), dim = range.getDim();
      SmallVector<int64_t> starts(rank, 0), limits(getResultType(joined).getShape()), strides(rank, 1);
      starts[dim] = range.getOffset() - joined.begin;
      limits[dim] = starts[dim] + (getResultType(member).getDimSize(dim) - 1) * range.getStep() + 1;
      strides[dim] = range.getStep();
      Value part =
          SliceOp::create(builder, member.getLoc(), getResultType(member), all.getResult(0), starts, limits, strides);
      member.getResult(0).replaceAllUsesWith(part);
    }
    for (spmd::GatherRangeOp member : joined.members) member.erase();
    numMerged += joined.members.size() - 1;
  }
};
}  // namespace
