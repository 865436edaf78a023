// The instruction has what the interface of collectives says, whichever op it is.
#include "passes/plan/lowering/lower_collective.h"

#include "dialects/plan/plan_dialect.h"
#include "dialects/spmd/collective.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
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
  spmd::CollectiveForm form = cast<spmd::CollectiveOpInterface>(op).getForm();
  if (form.reduce && getElementTypeOrSelf(sources.front()).isInteger(1)) form.reduce = getBooleanKind(*form.reduce);
  if (form.reduce && *form.reduce == ReduceKind::Xor)
    return op->emitOpError(
        "between ranks is not supported for 'xor' (the sum of booleans is one too); reduce integers "
        "of 8 bits and more, or leave the reduced dimension whole");
  ReduceKindAttr reduce = form.reduce ? ReduceKindAttr::get(builder.getContext(), *form.reduce) : ReduceKindAttr();
  auto collective = plan::CollectiveOp::create(
      builder, op->getLoc(), /*token=*/Type(), plan::CollectiveKindAttr::get(builder.getContext(), form.kind), reduce,
      sources, targets, /*staging=*/Value(), builder.getDenseI64ArrayAttr(form.dims), form.group, form.from,
      form.ranges, form.to);
  collective->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return success();
}
