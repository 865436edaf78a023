// One case per SPMD collective: which attributes the instruction has.
#include "passes/memory/collective_to_plan.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sgd;
using plan::CollectiveKind;

namespace {
struct Form {
  CollectiveKind kind;
  AxisListAttr axes;
  std::optional<ReduceKind> reduce = std::nullopt;
  SmallVector<int64_t> dims = {};
  AxisListAttr from = {};
  ArrayAttr ranges = {};
  AxisListAttr to = {};
};

Form getForm(Operation* op) {
  return llvm::TypeSwitch<Operation*, Form>(op)
      .Case([](spmd::AllReduceOp op) { return Form{CollectiveKind::AllReduce, op.getAxes(), op.getKind()}; })
      .Case([](spmd::AllGatherOp op) {
        return Form{CollectiveKind::AllGather, op.getAxes(), std::nullopt, SmallVector<int64_t>(op.getDims())};
      })
      .Case([](spmd::ReduceScatterOp op) {
        return Form{CollectiveKind::ReduceScatter, op.getAxes(), op.getKind(), SmallVector<int64_t>(op.getDims())};
      })
      .Case([](spmd::AllToAllOp op) {
        return Form{CollectiveKind::AllToAll,
                    op.getAxes(),
                    std::nullopt,
                    {static_cast<int64_t>(op.getSplit()), static_cast<int64_t>(op.getConcat())}};
      })
      .Case([](spmd::CollectivePermuteOp op) {
        return Form{CollectiveKind::Permute, op.getTo(), std::nullopt, {}, op.getFrom()};
      })
      .Case([](spmd::GatherRangeOp op) {
        return Form{CollectiveKind::GatherRange, op.getAxes(), std::nullopt, {}, {}, op.getRanges(), op.getTo()};
      })
      .Case([](spmd::BroadcastOp op) { return Form{CollectiveKind::Broadcast, op.getAxes()}; });
}
/// The same on booleans, where a set bit is 1 without a sign and -1 with it.
ReduceKind getBooleanKind(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Add:
      return ReduceKind::Xor;
    case ReduceKind::Mul:
    case ReduceKind::Max:
    case ReduceKind::UMin:
      return ReduceKind::And;
    case ReduceKind::Min:
    case ReduceKind::UMax:
      return ReduceKind::Or;
    default:
      return kind;
  }
}
}  // namespace

LogicalResult mlir::sgd::createCollective(OpBuilder& builder, Operation* op, ValueRange sources, ValueRange targets) {
  Form form = getForm(op);
  if (form.reduce && getElementTypeOrSelf(sources.front()).isInteger(1)) form.reduce = getBooleanKind(*form.reduce);
  if (form.reduce && *form.reduce == ReduceKind::Xor)
    return op->emitOpError(
        "between ranks is not supported for 'xor' (the sum of booleans is one too); reduce integers "
        "of 8 bits and more, or leave the reduced dimension whole");
  ReduceKindAttr reduce = form.reduce ? ReduceKindAttr::get(builder.getContext(), *form.reduce) : ReduceKindAttr();
  auto collective = plan::CollectiveOp::create(
      builder, op->getLoc(), /*token=*/Type(), plan::CollectiveKindAttr::get(builder.getContext(), form.kind), reduce,
      sources, targets, /*staging=*/Value(), builder.getDenseI64ArrayAttr(form.dims), form.axes, form.from, form.ranges,
      form.to);
  collective->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return success();
}
