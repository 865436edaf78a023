// The gradient of relu asks whether its operand is positive, which its result tells as well: what was before relu then
// need not be kept.
#include "dialects/sgd/splat.h"
#include "passes/kernels/epilogues/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_REUSEACTIVATIONSPASS
#include "passes/kernels/epilogues/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The operand that `relu` compares with zero, or null.
Value getReluOperand(arith::MaximumFOp relu) {
  if (isPositiveZero(relu.getRhs())) return relu.getLhs();
  return isPositiveZero(relu.getLhs()) ? relu.getRhs() : Value();
}

/// `value > 0` or its negation: the same for max(value, 0), for NaN too.
bool asksForSign(Operation* op, Value value) {
  auto compare = dyn_cast<arith::CmpFOp>(op);
  if (!compare || compare.getLhs() != value || !isPositiveZero(compare.getRhs())) return false;
  using arith::CmpFPredicate;
  CmpFPredicate predicate = compare.getPredicate();
  return predicate == CmpFPredicate::OGT || predicate == CmpFPredicate::UGT || predicate == CmpFPredicate::OLE ||
         predicate == CmpFPredicate::ULE;
}

struct ReuseActivationsPass : mlir::sgd::impl::ReuseActivationsPassBase<ReuseActivationsPass> {
  void runOnOperation() final {
    getOperation().walk([](arith::MaximumFOp relu) {
      Value value = getReluOperand(relu);
      if (!value || !isa<RankedTensorType>(value.getType())) return;
      SmallVector<Operation*> questions;
      for (Operation* user : value.getUsers()) {
        if (user == relu) continue;
        // Kept for somebody else anyway: nothing is saved. The mask must also find the result in front of it.
        if (!asksForSign(user, value) || user->getBlock() != relu->getBlock() || user->isBeforeInBlock(relu)) return;
        questions.push_back(user);
      }
      for (Operation* question : questions) question->setOperand(0, relu.getResult());
    });
  }
};

}  // namespace
