// Blocks are moved, not copied: regions are isolated, so only their arguments and terminators change.
#include "passes/plan/lowering/outline.h"

using namespace mlir;
using namespace mlir::sgd;

/// A private function whose entry block is that of `region`, without its terminator. `order` says which of the block's
/// arguments come first, second, ...
static func::FuncOp takeRegion(Region& region, func::FuncOp function, SymbolTable& symbols, const Twine& suffix,
                               ArrayRef<unsigned> order, ValueRange returned) {
  Block& block = region.front();
  OpBuilder builder(function.getContext());
  auto outlined = func::FuncOp::create(builder, region.getParentOp()->getLoc(), (function.getName() + suffix).str(),
                                       builder.getFunctionType({}, {}));
  outlined.setPrivate();
  builder.setInsertionPoint(block.getTerminator());
  func::ReturnOp::create(builder, block.getTerminator()->getLoc(), returned);
  block.getTerminator()->erase();
  outlined.getBody().takeBody(region);
  unsigned count = block.getNumArguments();
  for (unsigned argument : order) {
    BlockArgument old = block.getArgument(argument);
    old.replaceAllUsesWith(block.addArgument(old.getType(), old.getLoc()));
  }
  block.eraseArguments(0, count);
  symbols.insert(outlined);
  return outlined;
}

/// Result i takes the buffer of argument `first` + i.
static void finish(func::FuncOp function, std::optional<unsigned> first) {
  Block& block = function.front();
  TypeRange results = block.getTerminator()->getOperandTypes();
  function.setFunctionType(FunctionType::get(function.getContext(), block.getArgumentTypes(), results));
  Builder builder(function.getContext());
  for (unsigned result = 0; first && result < results.size(); ++result)
    function.setArgAttr(*first + result, kAliasOutputAttr, builder.getI64IntegerAttr(result));
}

OutlinedLoop mlir::sgd::outline(WhileOp loop, func::FuncOp function, SymbolTable& symbols) {
  OutlinedLoop outlined;
  SmallVector<Value> returned;
  for (auto [iterArg, value] : llvm::enumerate(loop.getYielded())) {
    (loop.isInvariant(iterArg) ? outlined.inputs : outlined.carried).push_back(iterArg);
    if (!loop.isInvariant(iterArg)) returned.push_back(value);
  }
  SmallVector<unsigned> order(outlined.inputs);
  llvm::append_range(order, outlined.carried);
  outlined.body = takeRegion(loop.getBody(), function, symbols, "_loop", order, returned);
  finish(outlined.body, outlined.inputs.size());
  if (loop.getCondition().empty()) return outlined;
  SmallVector<Value> predicate(loop.getCondition().front().getTerminator()->getOperands());
  outlined.condition = takeRegion(loop.getCondition(), function, symbols, "_condition", order, predicate);
  finish(outlined.condition, std::nullopt);
  return outlined;
}

SmallVector<func::FuncOp> mlir::sgd::outline(CaseOp op, func::FuncOp function, SymbolTable& symbols) {
  SmallVector<func::FuncOp> branches;
  unsigned inputs = op.getInputs().size();
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq(inputs));
  for (Region& region : op.getBranches()) {
    SmallVector<Value> returned(region.front().getTerminator()->getOperands());
    branches.push_back(takeRegion(region, function, symbols, "_branch", order, returned));
    for (Value result : op.getResults()) branches.back().front().addArgument(result.getType(), op.getLoc());
    finish(branches.back(), inputs);
  }
  return branches;
}
