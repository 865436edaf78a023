// Calls of Python functions, as jax.debug.print, io_callback and pure_callback export them; see prepare.h. No Python
// runs beside a step here.
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "frontends/stablehlo/prepare/prepare.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

stablehlo::CustomCallOp asCallback(Operation* op) {
  static constexpr StringRef kTargets[] = {"xla_python_cpu_callback",     "xla_python_gpu_callback",
                                           "xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback",
                                           "xla_ffi_python_gpu_callback", "xla_ffi_partitioned_python_gpu_callback"};
  auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
  return call && llvm::is_contained(kTargets, call.getCallTargetName()) ? call : stablehlo::CustomCallOp();
}

bool isToken(Value value) { return isa<stablehlo::TokenType>(value.getType()); }

/// Whether both are one value, or equal constants.
bool areSame(Value a, Value b) {
  auto first = a.getDefiningOp<stablehlo::ConstantOp>(), second = b.getDefiningOp<stablehlo::ConstantOp>();
  return a == b || (first && second && first.getValue() == second.getValue());
}

bool isInteger(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0 && type.getElementType().isSignlessInteger();
}

/// How equinox's error_if raises (`_errors.py`, handle_error): a callback that makes the results from the message's
/// number alone, and another one that takes them and the number again, for devices that go on after an error. No
/// function of the program's own data.
bool raisesError(Block& block) {
  stablehlo::CustomCallOp last;
  for (Value result : block.getTerminator()->getOperands()) {
    auto call = asCallback(result.getDefiningOp());
    if (!call || (last && call != last)) return false;
    last = call;
  }
  if (!last || last->getNumOperands() != last->getNumResults() + 1) return false;
  stablehlo::CustomCallOp first;
  for (auto [operand, result] : llvm::zip(last->getOperands().drop_back(), last->getResults())) {
    auto call = asCallback(operand.getDefiningOp());
    if (!call || (first && call != first) || operand.getType() != result.getType()) return false;
    first = call;
  }
  return first && first->getNumResults() == last->getNumResults() && first->getNumOperands() == 1 &&
         isInteger(first->getOperand(0)) && areSame(first->getOperand(0), last->getOperands().back());
}

/// Whether the block only hands on values from outside of it.
bool isIdentity(Block& block) {
  return block.without_terminator().empty() && llvm::none_of(block.getTerminator()->getOperands(), [&](Value value) {
           return value.getParentBlock() == &block;
         });
}

/// Replaces the conditional of an error_if by the branch without error; false when `op` is none.
bool removeErrorIf(Operation* op) {
  if (op->getNumRegions() != 2 || op->getNumResults() == 0) return false;
  for (unsigned error : {0u, 1u}) {
    Block &raising = op->getRegion(error).front(), &passing = op->getRegion(1 - error).front();
    if (!raisesError(raising) || !isIdentity(passing)) continue;
    emitWarning(op->getLoc())
        << "the check of equinox.error_if is dropped: its values pass as if it held, since it raises in the Python "
           "process that exported the program";
    op->replaceAllUsesWith(passing.getTerminator()->getOperands());
    op->erase();
    return true;
  }
  return false;
}

LogicalResult removeCallback(stablehlo::CustomCallOp call) {
  for (Value result : call->getResults())
    if (!isToken(result) && !result.use_empty())
      return emitError(call.getLoc())
             << "'stablehlo.custom_call' @" << call.getCallTargetName()
             << " calls a Python function of the process that exported the program and uses its result; expected a "
                "program that computes "
                "everything itself; write the function in JAX, or pass what it returns as an argument of the step";
  if (call.getHasSideEffect())
    emitWarning(call.getLoc())
        << "a Python callback (jax.debug.print, jax.debug.callback or io_callback) is dropped: the process that "
           "exported the program is not there when it runs, and no result of it is used";
  auto token = llvm::find_if(call->getOperands(), isToken);
  for (Value result : call->getResults()) {
    if (!isToken(result) || result.use_empty()) continue;
    OpBuilder builder(call);
    bool hasToken = token != call->getOperands().end();
    result.replaceAllUsesWith(
        hasToken ? *token : stablehlo::CreateTokenOp::create(builder, call.getLoc(), result.getType()).getOutput());
  }
  call->erase();
  return success();
}

}  // namespace

LogicalResult mlir::sgd::removeCallbacks(ModuleOp module) {
  SmallVector<Operation*> conditionals;
  module.walk([&](Operation* op) {
    if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op)) conditionals.push_back(op);
  });
  for (Operation* op : conditionals) removeErrorIf(op);
  SmallVector<stablehlo::CustomCallOp> callbacks;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (asCallback(call)) callbacks.push_back(call);
  });
  // Users first: a callback that only feeds another one goes with it.
  for (stablehlo::CustomCallOp call : llvm::reverse(callbacks))
    if (removeCallback(call).failed()) return failure();
  return success();
}
