// Tokens of ordered effects: jax.debug.print(ordered=True) and io_callback thread one through functions and loops; see
// prepare.h.
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

bool isToken(Type type) { return isa<stablehlo::TokenType>(type); }

bool holdsToken(Operation* op) {
  return llvm::any_of(op->getOperandTypes(), isToken) || llvm::any_of(op->getResultTypes(), isToken);
}

BitVector findTokens(TypeRange types) {
  BitVector found(types.size());
  for (auto [index, type] : llvm::enumerate(types)) found[index] = isToken(type);
  return found;
}

/// Shardings of the results, where each has one, without those of tokens.
void dropShardings(NamedAttrList& attributes, TypeRange types) {
  auto shardings = dyn_cast_or_null<sdy::ShardingPerValueAttr>(attributes.get("sdy.sharding"));
  if (!shardings || shardings.getShardings().size() != types.size()) return;
  SmallVector<sdy::ShardingAttr> kept;
  for (auto [sharding, type] : llvm::zip(shardings.getShardings(), types))
    if (!isToken(type)) kept.push_back(sharding);
  attributes.set("sdy.sharding", sdy::ShardingPerValueAttr::get(shardings.getContext(), kept));
}

/// The op without its operands and results that are tokens. They must be without uses, or of ops that are rewritten
/// later.
void rewrite(Operation* op) {
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    if (!isToken(operand.getType())) state.operands.push_back(operand);
  for (Type type : op->getResultTypes())
    if (!isToken(type)) state.types.push_back(type);
  state.attributes = NamedAttrList(op->getAttrDictionary());
  dropShardings(state.attributes, op->getResultTypes());
  for (Region& region : op->getRegions()) state.addRegion()->takeBody(region);
  OpBuilder builder(op);
  Operation* copy = builder.create(state);
  auto next = copy->result_begin();
  for (Value result : op->getResults())
    if (!isToken(result.getType())) result.replaceAllUsesWith(*next++);
}

/// Donation names results by number.
void renumberAliases(func::FuncOp function, const BitVector& droppedResults) {
  Builder builder(function.getContext());
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto alias = function.getArgAttrOfType<IntegerAttr>(index, "tf.aliasing_output");
    if (!alias || alias.getValue().isNegative() || alias.getValue().uge(droppedResults.size())) continue;
    int64_t before = 0, result = alias.getInt();
    for (int64_t i = 0; i < result; ++i) before += droppedResults[i];
    function.setArgAttr(index, "tf.aliasing_output", builder.getIntegerAttr(alias.getType(), result - before));
  }
}

LogicalResult rewriteFunction(func::FuncOp function) {
  BitVector arguments = findTokens(function.getArgumentTypes()), results = findTokens(function.getResultTypes());
  if (results.any()) renumberAliases(function, results);
  if (failed(function.eraseResults(results))) return failure();
  return function.eraseArguments(arguments);
}

}  // namespace

LogicalResult mlir::sgd::removeTokens(ModuleOp module) {
  SmallVector<Operation*> ops;
  SmallVector<func::FuncOp> functions;
  WalkResult walked = module.walk([&](Operation* op) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (function && (findTokens(function.getArgumentTypes()).any() || findTokens(function.getResultTypes()).any()))
      functions.push_back(function);
    if (!holdsToken(op)) return WalkResult::advance();
    if (isa<stablehlo::SendOp, stablehlo::RecvOp, stablehlo::InfeedOp, stablehlo::OutfeedOp>(op)) {
      emitError(op->getLoc())
          << "'" << op->getName()
          << "' is not supported; transfers within a step are not, pass tensors as arguments and results";
      return WalkResult::interrupt();
    }
    ops.push_back(op);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted()) return failure();
  // Ops first, inner ones before those around them: then no use of a token is left, and block arguments and functions
  // lose theirs.
  for (Operation* op : ops)
    if (!isa<stablehlo::CreateTokenOp, stablehlo::AfterAllOp>(op)) rewrite(op);
  for (Operation* op : ops) op->dropAllReferences();
  for (Operation* op : ops) op->dropAllUses();
  for (Operation* op : ops) op->erase();
  if (!ops.empty())
    module.walk([](Block* block) {
      if (isa<func::FuncOp>(block->getParentOp())) return;
      block->eraseArguments([](BlockArgument argument) { return isToken(argument.getType()); });
    });
  for (func::FuncOp function : functions)
    if (failed(rewriteFunction(function))) return failure();
  return success();
}
