// Barriers are passed operand by operand: they keep a backward pass from sharing values with the forward pass, which
// nobody does here.
#include "passes/time/prefetch/gather_cone.h"

#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

/// Slices, casts and the numbers of trips; more is no block of a parameter.
static constexpr unsigned kMostOps = 64;

static bool isCheap(Operation* op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !isMemoryEffectFree(op)) return false;
  return op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<MovesElements>() || isa<DynamicSliceOp>(op) ||
         isElementwise(op);
}

static bool isScalar(Value value) { return tensorType(value).getNumElements() == 1; }

/// The operand that a barrier's result is; null for other values.
static Value getBarrierOperand(Value value) {
  auto barrier = value.getDefiningOp<OptimizationBarrierOp>();
  return barrier ? barrier->getOperand(cast<OpResult>(value).getResultNumber()) : Value();
}

bool GatherCone::visit(Value value) {
  if (!seen.insert(value).second) return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned iterArg = argument.getArgNumber();
    if (getYielded(iterArg) == value) return true;
    counters.insert(iterArg);
    return isScalar(value) && visit(getYielded(iterArg));
  }
  if (Value operand = getBarrierOperand(value)) return visit(operand);
  Operation* op = value.getDefiningOp();
  return isCheap(op) && ++numOps <= kMostOps &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return visit(operand); });
}

std::optional<GatherCone> GatherCone::find(WhileOp loop, spmd::AllGatherOp gather) {
  GatherCone cone(loop, gather);
  if (!llvm::all_of(gather->getOperands(), [&](Value operand) { return cone.visit(operand); })) return std::nullopt;
  // Values that are equal in all iterations are hoisted instead.
  if (cone.counters.empty()) return std::nullopt;
  return cone;
}

Value GatherCone::rebuild(OpBuilder& builder, Value value, IRMapping& mapping) const {
  if (Value known = mapping.lookupOrNull(value)) return known;
  Value rebuilt;
  if (Value operand = getBarrierOperand(value)) {
    rebuilt = rebuild(builder, operand, mapping);
  } else {
    Operation* op = value.getDefiningOp();
    for (Value operand : op->getOperands()) rebuild(builder, operand, mapping);
    rebuilt = builder.clone(*op, mapping)->getResult(0);
  }
  mapping.map(value, rebuilt);
  return rebuilt;
}

ValueRange GatherCone::rebuildGather(OpBuilder& builder, IRMapping& mapping) const {
  for (Value operand : gather->getOperands()) rebuild(builder, operand, mapping);
  return builder.clone(*gather, mapping)->getResults();
}

ValueRange GatherCone::build(OpBuilder& builder, ValueRange iterArgs) const {
  IRMapping mapping;
  mapping.map(body->getArguments(), iterArgs);
  return rebuildGather(builder, mapping);
}

ValueRange GatherCone::buildNext(OpBuilder& builder) const {
  IRMapping now, next;
  now.map(body->getArguments(), body->getArguments());
  next.map(body->getArguments(), body->getArguments());
  for (unsigned counter : counters) next.map(body->getArgument(counter), rebuild(builder, getYielded(counter), now));
  return rebuildGather(builder, next);
}
