// Buffers change space and place; types of views follow.
#include "passes/plan/memory/spaces.h"

#include "dialects/plan/host_copy.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;
using plan::Space;

void mlir::sgd::setSpace(Value root, Space space) {
  auto type = cast<MemRefType>(root.getType());
  auto attribute = plan::SpaceAttr::get(root.getContext(), space);
  if (type.getMemorySpace() == attribute) return;
  root.setType(MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(), attribute));
  for (OpOperand& use : root.getUses()) {
    if (auto view = dyn_cast<plan::ViewOp>(use.getOwner())) setSpace(view.getResult(), space);
    if (auto tiled = dyn_cast<plan::TiledOp>(use.getOwner()))
      setSpace(tiled.getBody().getArgument(use.getOperandNumber()), space);
    for (func::FuncOp callee : plan::getCallees(use.getOwner())) {
      for (auto [argument, passed] : llvm::zip(callee.getArguments(), plan::getPassedBuffers(use.getOwner())))
        if (passed == root) setSpace(argument, space);
      updateFunctionType(callee);
    }
  }
}

Value mlir::sgd::viewAs(OpBuilder& builder, Value buffer, MemRefType type) {
  auto from = cast<MemRefType>(buffer.getType());
  if (from.getShape() == type.getShape() && from.getElementType() == type.getElementType()) return buffer;
  auto wanted = MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(), from.getMemorySpace());
  return plan::ViewOp::create(builder, buffer.getLoc(), wanted, buffer, 0);
}

void mlir::sgd::replaceBuffer(plan::AllocOp alloc, Value target) {
  if (plan::getSpace(alloc.getType()) == Space::Window) setSpace(target, Space::Window);
  setSpace(alloc, plan::getSpace(target.getType()));
  OpBuilder builder(alloc);
  alloc.replaceAllUsesWith(viewAs(builder, target, alloc.getType()));
  alloc.erase();
}

void mlir::sgd::updateFunctionType(func::FuncOp function) {
  Block& block = function.front();
  function.setFunctionType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
}

static bool isOfHost(Value value) {
  return plan::isBuffer(value.getType()) && plan::getSpace(value.getType()) == Space::Host;
}

LogicalResult mlir::sgd::checkIsPlan(func::FuncOp function) {
  auto isBuffer = [](Type type) { return plan::isBuffer(type); };
  if (!llvm::hasSingleElement(function.getBody()) || !llvm::all_of(function.getArgumentTypes(), isBuffer) ||
      !llvm::all_of(function.getResultTypes(), isBuffer))
    return function.emitOpError(
        "is not at the plan level: it must be one block over memrefs in a #plan.space; run sgd-lower-to-plan first");
  for (Operation& op : function.front().without_terminator()) {
    if (!isa_and_nonnull<plan::PlanDialect>(op.getDialect())) return op.emitOpError("is not an op of the plan level");
    if (isa<plan::InstructionOpInterface>(op) && !isa<plan::HostCopyOp>(op) && llvm::any_of(op.getOperands(), isOfHost))
      return op.emitOpError("uses host memory; expected plan.host_copy alone to do so; copy the buffer to the device");
  }
  return success();
}

/// Returns whether something changed.
static bool unifySpaces(Operation* op, unsigned index, BlockArgument argument) {
  Value buffer = plan::getPassedBuffers(op)[index];
  Space wanted = plan::getSpace(argument.getType()), actual = plan::getSpace(buffer.getType());
  if (wanted == actual) return false;
  if (wanted != Space::Window) return setSpace(argument, actual), true;
  Value root = plan::getRoot(buffer).root;
  if (actual != Space::Constant || isa<BlockArgument>(root)) return setSpace(root, Space::Window), true;
  OpBuilder builder(op);
  auto from = cast<MemRefType>(buffer.getType());
  auto type = MemRefType::get(from.getShape(), from.getElementType(), from.getLayout(),
                              plan::SpaceAttr::get(op->getContext(), Space::Window));
  auto copy = plan::AllocOp::create(builder, op->getLoc(), type, IntegerAttr());
  plan::CopyOp::create(builder, op->getLoc(), buffer, copy);
  op->replaceUsesOfWith(buffer, copy);
  return true;
}

void mlir::sgd::unifyPassedSpaces(ModuleOp module) {
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (auto function : module.getOps<func::FuncOp>())
      for (Operation& op : function.getOps())
        for (func::FuncOp callee : plan::getCallees(&op))
          for (BlockArgument argument : callee.getArguments())
            hasChanged |= unifySpaces(&op, argument.getArgNumber(), argument);
  }
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal()) updateFunctionType(function);
}
