// One walk in program order: every op is checked against its sharding rule and made local in place; reshards become
// SPMD ops.
#include "dialects/sgd/compression.h"
#include "dialects/sgd/decision.h"
#include "dialects/sgd/sequential.h"
#include "passes/graph/carry/value_names.h"
#include "passes/sharding/propagation/partial_values.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/factor_check.h"
#include "passes/spmd/partition/local_rules.h"
#include "passes/spmd/partition/padding.h"
#include "passes/spmd/partition/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_LOCALIZEPASS
#include "passes/spmd/partition/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
class Localisation {
 public:
  Localisation(func::FuncOp function, FlatSymbolRefAttr meshName, MeshAttr mesh, const CostModel& cost,
               MeshAxisAttr sequential)
      : function(function),
        meshName(meshName),
        mesh(mesh),
        emitter(function, meshName, mesh, cost, sequential),
        padding(emitter) {}

  LogicalResult run();

 private:
  LogicalResult check();
  void localizeArguments();
  LogicalResult localizeBlock(Block& block);
  LogicalResult localizeControlFlow(Operation* op);
  LogicalResult localizeResults(func::ReturnOp terminator);
  LogicalResult localize(Operation* op);
  LogicalResult lowerReshard(ReshardOp reshard);
  Decision getCause(ReshardOp reshard);
  RankedTensorType remember(Value value);

  func::FuncOp function;
  FlatSymbolRefAttr meshName;
  MeshAttr mesh;
  ReshardEmitter emitter;
  PaddingFiller padding;
  DenseMap<Value, RankedTensorType> globalTypes;   // of values that are local already
  DenseMap<Operation*, std::string> movedTensors;  // of reshards: what they move, for people
};

/// The index and all results have the same coordinates on each rank.
static LogicalResult checkIndex(CaseOp branches) {
  auto getDims = [](Value value, size_t count) { return getSharding(value.getType()).getDims().take_front(count); };
  auto count = static_cast<size_t>(cast<RankedTensorType>(branches.getIndex().getType()).getRank());
  auto getAxes = [](DimShardingAttr dim) { return dim.getAxes(); };
  for (Value result : branches.getResults())
    if (!llvm::equal(llvm::map_range(getDims(branches.getIndex(), count), getAxes),
                     llvm::map_range(getDims(result, count), getAxes)))
      return branches.emitOpError() << "has an index and a result with leading dimensions on different axes: "
                                    << branches.getIndex().getType() << " and " << result.getType()
                                    << "; expected the same axes; reshard the index or the results";
  return success();
}

/// Every op can be computed shard by shard; notes what its operands' padding must hold, and what reshards move.
LogicalResult Localisation::check() {
  if (failed(checkShardings(function, meshName, mesh))) return failure();
  for (Block* block : getProgramBlocks(function))
    for (Operation& op : *block) {
      if (auto reshard = dyn_cast<ReshardOp>(op)) movedTensors[&op] = describeValue(function, reshard.getInput());
      if (auto branches = dyn_cast<CaseOp>(op); branches && failed(checkIndex(branches))) return failure();
      if (isa<ReshardOp, CompressedReductionOp, func::ReturnOp, YieldOp>(op) || isControlFlow(&op)) continue;
      if (failed(checkFitsRule(&op, meshName, mesh))) return failure();
      padding.note(&op);
    }
  return success();
}

/// Notes the global type of `value` and returns the local one.
RankedTensorType Localisation::remember(Value value) {
  auto global = cast<RankedTensorType>(value.getType());
  globalTypes[value] = global;
  return emitter.getLocalType(global);
}

/// Attributes of an argument or result, and what its local type will not tell.
static DictionaryAttr withGlobalType(DictionaryAttr attributes, RankedTensorType global) {
  NamedAttrList list(attributes);
  if (ShardingAttr sharding = getSharding(global)) list.set(kShardingAttr, sharding);
  auto unpadded = dyn_cast_or_null<TypeAttr>(list.erase(kUnpaddedTypeAttr));
  list.set(kGlobalTypeAttr, unpadded ? unpadded : TypeAttr::get(withSharding(global, {})));
  return list.getDictionary(global.getContext());
}

void Localisation::localizeArguments() {
  SmallVector<DictionaryAttr> attributes;
  for (BlockArgument argument : function.getArguments()) {
    RankedTensorType local = remember(argument);
    attributes.push_back(withGlobalType(function.getArgAttrDict(argument.getArgNumber()), globalTypes[argument]));
    argument.setType(local);
  }
  function.setAllArgAttrs(attributes);
}

LogicalResult Localisation::localizeResults(func::ReturnOp terminator) {
  SmallVector<DictionaryAttr> attributes;
  for (OpOperand& operand : terminator->getOpOperands()) {
    RankedTensorType global = globalTypes[operand.get()];
    if (getSharding(global).isPartial())
      return terminator.emitOpError()
             << "result " << operand.getOperandNumber() << " is partial over " << getSharding(global).getUnreduced()[0]
             << "; expected a reduced value; drop 'unreduced' from its annotation, or compile with "
                "--keep-unreduced";
    attributes.push_back(withGlobalType(function.getResultAttrDict(operand.getOperandNumber()), global));
  }
  function.setAllResultAttrs(attributes);
  function.setType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), terminator.getOperandTypes()));
  return success();
}

LogicalResult Localisation::localize(Operation* op) {
  SmallVector<RankedTensorType, 4> globalOperands, globalResults, localResults;
  for (Value operand : op->getOperands()) globalOperands.push_back(globalTypes[operand]);
  for (Value result : op->getResults()) {
    localResults.push_back(remember(result));
    globalResults.push_back(globalTypes[result]);
  }
  SmallVector<OpOperand*, 4> uses;  // one of each result: a rule may redirect them to other values
  for (Value result : op->getResults()) uses.push_back(result.use_empty() ? nullptr : &*result.use_begin());
  padding.fill(op);
  FailureOr<Value> replacement = localizeOp({op, globalOperands, globalResults, localResults}, emitter);
  if (failed(replacement)) return failure();
  if (*replacement) globalTypes[*replacement] = globalResults[0];
  for (unsigned i = 0; i < uses.size(); ++i)
    if (uses[i]) globalTypes[uses[i]->get()] = globalResults[i];
  return success();
}

/// The cause of the reshard and its location: the producer of a partial value, else the first user.
Decision Localisation::getCause(ReshardOp reshard) {
  RankedTensorType from = globalTypes[reshard.getInput()];
  Decision decision = Decision::at(DecisionKind::Movement, reshard.getLoc());
  if (std::string moved = movedTensors.lookup(reshard); !moved.empty()) decision.subject = moved + ", ";
  llvm::raw_string_ostream(decision.subject) << withSharding(from, {});
  Operation* producer = reshard.getInput().getDefiningOp();
  bool isProduced = producer && getSharding(from).isPartial();
  Movement& movement = decision.movement.emplace();
  movement.cause = isProduced ? MovementCause::Producer : MovementCause::User;
  Operation* op = isProduced ? producer : reshard->use_empty() ? nullptr : *reshard->user_begin();
  if (op) movement.op = op->getName().getStringRef().str();
  return decision;
}

LogicalResult Localisation::lowerReshard(ReshardOp reshard) {
  if (reshard->hasAttr(kFactorAttr)) {
    reshard.getResult().replaceAllUsesWith(reshard.getInput());
    reshard.erase();
    return success();
  }
  OpBuilder builder(reshard);
  auto to = cast<RankedTensorType>(reshard.getType());
  FailureOr<Value> value = emitter.emit(builder, reshard.getLoc(), reshard.getInput(), globalTypes[reshard.getInput()],
                                        to, getCause(reshard));
  if (failed(value)) return failure();
  globalTypes[*value] = to;
  reshard.getResult().replaceAllUsesWith(*value);
  reshard.erase();
  return success();
}

/// Tensors of a iter_arg have one sharding, so each becomes local by itself. Yields follow from what is before them.
LogicalResult Localisation::localizeControlFlow(Operation* op) {
  Block* outer = op->getBlock();
  for (Region& region : op->getRegions()) {
    if (region.empty()) continue;
    for (BlockArgument argument : region.getArguments()) {
      RankedTensorType local = remember(argument);
      argument.setType(local);
    }
    if (failed(localizeBlock(region.front()))) return failure();
  }
  for (Value result : op->getResults()) {
    RankedTensorType local = remember(result);
    result.setType(local);
  }
  emitter.enterBlock(*outer);
  return success();
}

LogicalResult Localisation::localizeBlock(Block& block) {
  emitter.enterBlock(block);
  SmallVector<Operation*> ops = llvm::to_vector(llvm::make_pointer_range(block));
  for (Operation* op : ops) {
    LogicalResult result = success();
    if (isa<YieldOp>(op)) continue;
    if (auto reshard = dyn_cast<ReshardOp>(op))
      result = lowerReshard(reshard);
    else if (auto terminator = dyn_cast<func::ReturnOp>(op))
      result = localizeResults(terminator);
    else if (isControlFlow(op))
      result = localizeControlFlow(op);
    else
      result = localize(op);
    if (failed(result)) return failure();
  }
  return success();
}

LogicalResult Localisation::run() {
  if (failed(check())) return failure();
  localizeArguments();
  return localizeBlock(function.front());
}

struct LocalizePass : mlir::sgd::impl::LocalizePassBase<LocalizePass> {
  using LocalizePassBase::LocalizePassBase;

  void getDependentDialects(DialectRegistry& registry) const override {
    LocalizePassBase::getDependentDialects(registry);
    registerLocalRules(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshOp mesh = getMesh(module);
    if (!mesh) {
      module.emitError("has no sgd.mesh; expected the mesh to partition for; run sgd-shard first");
      return signalPassFailure();
    }
    FailureOr<CostModel> cost = loadCostModel(mesh, topologyName);
    if (failed(cost)) return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>()) {
      function.walk([&](ReshardOp) { ++numReshards; });
      FlatSymbolRefAttr name = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
      if (failed(Localisation(function, name, mesh.getMesh(), *cost, getActiveSequentialAxis(mesh)).run()))
        return signalPassFailure();
    }
  }
};
}  // namespace
