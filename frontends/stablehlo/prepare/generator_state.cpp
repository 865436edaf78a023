// Threads the state of the generator of stablehlo.rng through the program; see prepare.h. XLA draws from a generator of
// its runtime, whose numbers no other program can have. Ours is threefry2x32 with state [key, counter], the one of
// rng_bit_generator: the same numbers on any mesh, others in each step because the state is carried, the same again for
// the same seed.
#include "dialects/sgd/roles.h"
#include "frontends/stablehlo/inlined_callee.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/prepare/draw_numbers.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class GeneratorState {
 public:
  explicit GeneratorState(ModuleOp module)
      : module(module),
        builder(module.getContext()),
        type(RankedTensorType::get({2}, builder.getIntegerType(64, /*isSigned=*/false))) {}

  LogicalResult run();

 private:
  /// Finds the functions that draw, or call one that does: one walk, then from callees to callers.
  void findFunctions();
  /// The function that `op` calls, where that draws.
  func::FuncOp getDrawingCallee(Operation* op);
  bool draws(Operation* op);

  /// The generator's state is known to the runtime by name and type: no argument of the user's may look like it.
  LogicalResult checkNames(func::FuncOp function);
  LogicalResult threadFunction(func::FuncOp function);
  /// Gives the state to the ops of the block, one after another, and returns what it is behind them.
  FailureOr<Value> threadBlock(Block& block, Value state);
  FailureOr<Value> threadOp(Operation* op, Value state);
  FailureOr<Value> threadWhile(stablehlo::WhileOp op, Value state);
  FailureOr<Value> threadBranches(Operation* op, Value state);
  FailureOr<Value> threadManual(sdy::ManualComputationOp op, Value state);
  /// The state behind the block as one more operand of its terminator.
  LogicalResult returnState(Block& block, Value state);
  /// `op` with `operands` and one more result of the state's type, with its regions; the old one is gone. Returns that
  /// result.
  Value replace(Operation* op, ValueRange operands, ArrayRef<NamedAttribute> changed = {});

  ModuleOp module;
  OpBuilder builder;
  RankedTensorType type;
  llvm::MapVector<StringAttr, func::FuncOp> drawing;  // by name
};

func::FuncOp GeneratorState::getDrawingCallee(Operation* op) {
  FlatSymbolRefAttr callee = getInlinedCallee(op);
  return callee ? drawing.lookup(callee.getAttr()) : func::FuncOp();
}

bool GeneratorState::draws(Operation* op) {
  return op
      ->walk([&](Operation* inner) {
        return isa<stablehlo::RngOp>(inner) || getDrawingCallee(inner) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

void GeneratorState::findFunctions() {
  DenseMap<StringAttr, SmallVector<func::FuncOp>> callers;
  SmallVector<func::FuncOp> open;
  auto add = [&](func::FuncOp function) {
    if (drawing.insert({function.getSymNameAttr(), function}).second) open.push_back(function);
  };
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation* op) {
      if (isa<stablehlo::RngOp>(op)) add(function);
      if (FlatSymbolRefAttr callee = getInlinedCallee(op)) callers[callee.getAttr()].push_back(function);
    });
  while (!open.empty())
    for (func::FuncOp caller : callers.lookup(open.pop_back_val().getSymNameAttr())) add(caller);
}

Value GeneratorState::replace(Operation* op, ValueRange operands, ArrayRef<NamedAttribute> changed) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(op->getResultTypes());
  state.addTypes(type);
  state.attributes = NamedAttrList(op->getAttrDictionary());
  for (NamedAttribute attribute : changed) state.attributes.set(attribute.getName(), attribute.getValue());
  // Shardings of the results, one by one, would be one too few.
  if (isa_and_nonnull<sdy::ShardingPerValueAttr>(state.attributes.get("sdy.sharding")))
    state.attributes.erase("sdy.sharding");
  for (Region& region : op->getRegions()) state.addRegion()->takeBody(region);
  builder.setInsertionPoint(op);
  Operation* copy = builder.create(state);
  op->replaceAllUsesWith(copy->getResults().drop_back());
  op->erase();
  return copy->getResults().back();
}

LogicalResult GeneratorState::returnState(Block& block, Value state) {
  FailureOr<Value> last = threadBlock(block, state);
  if (failed(last)) return failure();
  Operation* end = block.getTerminator();
  end->insertOperands(end->getNumOperands(), *last);
  return success();
}

FailureOr<Value> GeneratorState::threadWhile(stablehlo::WhileOp op, Value state) {
  if (llvm::any_of(op.getCond().front(), [&](Operation& inner) { return draws(&inner); }))
    return emitError(op.getLoc())
           << "'stablehlo.while' draws random numbers in its condition; draw them in the body and carry them";
  op.getCond().front().addArgument(type, op.getLoc());
  Value inside = op.getBody().front().addArgument(type, op.getLoc());
  if (returnState(op.getBody().front(), inside).failed()) return failure();
  SmallVector<Value> operands(op->getOperands());
  operands.push_back(state);
  return replace(op, operands);
}

FailureOr<Value> GeneratorState::threadBranches(Operation* op, Value state) {
  for (Region& region : op->getRegions())
    if (returnState(region.front(), state).failed()) return failure();
  return replace(op, op->getOperands());
}

FailureOr<Value> GeneratorState::threadManual(sdy::ManualComputationOp op, Value state) {
  SmallVector<sdy::ShardingAttr> in(op.getInShardings().getShardings()), out(op.getOutShardings().getShardings());
  if (in.empty() && out.empty())
    return emitError(op.getLoc()) << "'sdy.manual_computation' draws random numbers and has neither operands nor "
                                     "results; expected at least one result; return what it computes";
  // All ranks draw from one state, and leave with the same: where loops, branches or functions draw, with the largest
  // counter, which the importer finds (kGeneratorMayDifferAttr). That costs nothing where ranks cannot differ.
  MLIRContext* context = op.getContext();
  auto closed = sdy::DimShardingAttr::get(context, {}, /*isOpen=*/false, std::nullopt);
  auto replicated = sdy::ShardingAttr::get(context, (in.empty() ? out : in).front().getMesh(), closed, {}, {});
  in.push_back(replicated);
  out.push_back(replicated);
  bool mayDiffer =
      op->walk([&](Operation* inner) {
          bool decides = isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(inner) || getDrawingCallee(inner);
          return decides && draws(inner) ? WalkResult::interrupt() : WalkResult::advance();
        }).wasInterrupted();
  Value inside = op.getBody().front().addArgument(type, op.getLoc());
  if (returnState(op.getBody().front(), inside).failed()) return failure();
  SmallVector<Value> operands(op->getOperands());
  operands.push_back(state);
  SmallVector<NamedAttribute> changed = {
      builder.getNamedAttr(op.getInShardingsAttrName(), sdy::ShardingPerValueAttr::get(context, in)),
      builder.getNamedAttr(op.getOutShardingsAttrName(), sdy::ShardingPerValueAttr::get(context, out))};
  if (mayDiffer) changed.push_back(builder.getNamedAttr(kGeneratorMayDifferAttr, builder.getUnitAttr()));
  return replace(op, operands, changed);
}

FailureOr<Value> GeneratorState::threadOp(Operation* op, Value state) {
  builder.setInsertionPoint(op);
  if (auto rng = dyn_cast<stablehlo::RngOp>(op)) {
    FailureOr<DrawnNumbers> drawn = drawNumbers(rng, state, builder);
    if (failed(drawn)) return failure();
    rng->replaceAllUsesWith(ValueRange(drawn->numbers));
    rng->erase();
    return drawn->state;
  }
  if (func::FuncOp callee = getDrawingCallee(op)) {
    SmallVector<Value> operands(op->getOperands());
    operands.push_back(state);
    SmallVector<Type> types(op->getResultTypes());
    types.push_back(type);
    auto call = func::CallOp::create(builder, op->getLoc(), callee.getSymNameAttr(), types, operands);
    op->replaceAllUsesWith(call.getResults().drop_back());
    op->erase();
    return call.getResults().back();
  }
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) return threadWhile(loop, state);
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op)) return threadBranches(op, state);
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op)) return threadManual(manual, state);
  return emitError(op->getLoc()) << "'" << op->getName()
                                 << "' draws random numbers in its body, which is not supported; draw them before";
}

FailureOr<Value> GeneratorState::threadBlock(Block& block, Value state) {
  for (Operation& op : llvm::make_early_inc_range(block)) {
    if (!draws(&op)) continue;
    FailureOr<Value> next = threadOp(&op, state);
    if (failed(next)) return failure();
    state = *next;
  }
  return state;
}

LogicalResult GeneratorState::checkNames(func::FuncOp function) {
  if (!function.isPublic() || function.isExternal()) return success();
  for (BlockArgument argument : function.getArguments()) {
    auto named = dyn_cast<NameLoc>(argument.getLoc());
    auto info = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "jax.arg_info");
    StringRef name = named ? named.getName().getValue() : info ? info.getValue() : StringRef();
    bool isState = argument.getType() == type;
    if (name != kGeneratorName || (!isState && !drawing.contains(function.getSymNameAttr()))) continue;
    return emitError(function.getLoc())
           << "argument " << argument.getArgNumber() << " is named '" << kGeneratorName << "'"
           << (isState ? " and has the type of the state of stablehlo.rng"
                       : " in a program that draws by stablehlo.rng")
           << "; expected that name for the generator's state alone, which starts from --seed; rename the argument";
  }
  return success();
}

LogicalResult GeneratorState::threadFunction(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError(
        "has several blocks and draws random numbers; expected one block; use 'stablehlo.while' and 'stablehlo.case' "
        "for control flow");
  MLIRContext* context = module.getContext();
  unsigned argument = function.getNumArguments(), result = function.getNumResults();
  NamedAttrList attributes, resultAttributes;
  if (function.isPublic()) {
    attributes.set("tf.aliasing_output", builder.getI32IntegerAttr(result));
    attributes.set(kRoleAttr, RoleAttr::get(context, Role::Generator));
    resultAttributes.set("jax.result_info", builder.getStringAttr(kGeneratorName));
  }
  Location loc = NameLoc::get(builder.getStringAttr(kGeneratorName), function.getLoc());
  if (failed(function.insertArgument(argument, type, attributes.getDictionary(context), loc)) ||
      failed(function.insertResult(result, type, resultAttributes.getDictionary(context))))
    return failure();
  return returnState(function.getBody().front(), function.getArgument(argument));
}

LogicalResult GeneratorState::run() {
  findFunctions();
  for (auto function : module.getOps<func::FuncOp>())
    if (checkNames(function).failed()) return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (drawing.contains(function.getSymNameAttr()) && threadFunction(function).failed()) return failure();
  return success();
}

}  // namespace

LogicalResult mlir::sgd::threadGeneratorState(ModuleOp module) { return GeneratorState(module).run(); }
