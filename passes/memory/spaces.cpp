// Buffers change space and place; types of views follow.
#include "passes/memory/spaces.h"

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

LogicalResult mlir::sgd::checkIsPlan(func::FuncOp function) {
  auto isBuffer = [](Type type) { return plan::isBuffer(type); };
  if (!llvm::hasSingleElement(function.getBody()) || !llvm::all_of(function.getArgumentTypes(), isBuffer) ||
      !llvm::all_of(function.getResultTypes(), isBuffer))
    return function.emitOpError(
        "is not at the plan level: it must be one block over memrefs in a #plan.space; run sgd-to-plan first");
  for (Operation& op : function.front().without_terminator())
    if (!isa_and_nonnull<plan::PlanDialect>(op.getDialect())) return op.emitOpError("is not an op of the plan level");
  return success();
}
