// The pass sgd-form-loops: a schedule of loops, then one loop after the other before the function's return.
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/MapVector.h"
#include "passes/collectives/loop_collectives.h"
#include "passes/partition/passes.h"
#include "passes/sequential/loop_schedule.h"
#include "passes/sequential/loop_writer.h"
#include "passes/sequential/passes.h"
#include "passes/sharding/sequential_axis.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FORMLOOPSPASS
#include "passes/sequential/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
class LoopFormation {
 public:
  LoopFormation(func::FuncOp function, const SequentialAxis& axis, MeshAxisAttr attr)
      : function(function), axis(axis), context{axis.getMesh().getName(), attr} {}

  LogicalResult run(bool refuse);
  unsigned numLoops = 0, numStacked = 0;

 private:
  LogicalResult check(const LoopSchedule& schedule, bool refuse);
  void setSharding(ShardingAttr sharding, llvm::function_ref<void(StringRef, Attribute)> set);
  void widenArguments();
  void writeLoop(const LoopSchedule& schedule, unsigned index);
  SequentialState getResultState(OpOperand& operand) {
    auto sharding = function.getResultAttrOfType<ShardingAttr>(operand.getOperandNumber(), kShardingAttr);
    return sharding ? axis.getState(sharding) : SequentialState();
  }
  void repeatResult(OpOperand& operand);
  void setResults();
  void liftCoordinates(Block& block);
  void liftCoordinates(Operation* op);

  func::FuncOp function;
  const SequentialAxis& axis;
  LoopContext context;
};
}  // namespace

/// `op` with `values` as further inputs of its regions, which a loop leaves as they are.
static void addInputs(Operation* op, ValueRange values) {
  if (auto loop = dyn_cast<WhileOp>(op)) return (void)addInvariants(loop, values);
  op->insertOperands(op->getNumOperands(), values);
  for (Region& region : op->getRegions())
    for (Value value : values) region.addArgument(value.getType(), value.getLoc());
}

/// What depends on the coordinate inside of a loop or branch takes its number from outside.
void LoopFormation::liftCoordinates(Operation* op) {
  llvm::MapVector<AxisListAttr, SmallVector<Operation*, 2>> users;
  for (Region& region : op->getRegions()) {
    if (region.empty()) continue;
    liftCoordinates(region.front());
    for (Operation& inner : region.front()) {
      if (auto id = dyn_cast<spmd::PartitionIdOp>(inner); id && namesAxis(id.getAxes(), context.axis))
        users[id.getAxes()].push_back(id);
      if (auto slice = dyn_cast<spmd::ShardSliceOp>(inner); slice && namesAxis(slice.getAxes(), context.axis))
        users[slice.getAxes()].push_back(slice);
    }
  }
  if (users.empty()) return;
  OpBuilder builder(op);
  SmallVector<Value> ids;
  for (const auto& entry : users)
    ids.push_back(spmd::PartitionIdOp::create(builder, op->getLoc(), RankedTensorType::get({}, builder.getI32Type()),
                                              entry.first));
  addInputs(op, ids);
  for (auto [index, entry] : llvm::enumerate(users))
    for (Operation* user : entry.second) {
      Block* block = user->getBlock();
      Value id = block->getArgument(block->getNumArguments() - ids.size() + index);
      if (auto slice = dyn_cast<spmd::ShardSliceOp>(user)) {
        builder.setInsertionPoint(slice);
        id = createPart(builder, slice.getLoc(), slice.getInput(), slice.getDim(),
                        tensorType(slice).getDimSize(slice.getDim()), id);
      }
      user->getResult(0).replaceAllUsesWith(id);
      user->erase();
    }
}

void LoopFormation::liftCoordinates(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(block))
    if (isControlFlow(&op)) liftCoordinates(&op);
}

LogicalResult LoopFormation::check(const LoopSchedule& schedule, bool refuse) {
  auto refuseOp = [&](Operation* op) {
    return op->emitError() << "needs rows of other coordinates of '" << axis.getName()
                           << "' in a form that loops over it do not have; expected each row of the batch to be "
                              "computed from itself, sums over rows, or all rows; compile without --micro";
  };
  WalkResult result = function.walk([&](Operation* op) {
    bool isHere = op->getParentOp() == function;
    if (schedule.joinsCoordinates(op)) {
      auto form = cast<spmd::CollectiveOpInterface>(op).getForm();
      bool isWhole = isa<spmd::AllReduceOp, spmd::AllGatherOp>(op) && form.group.getAxes().size() == 1;
      if (!isHere || !isWhole) return (void)refuseOp(op), WalkResult::interrupt();
    }
    if (refuse && isHere && schedule.get(op).isInLoop && schedule.get(op).index > 0) {
      op->emitError() << "needs a value of the whole batch that is known only after all coordinates of '"
                      << axis.getName() << "', which takes a second loop over them; --micro-refuse allows one";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A result that is cut and that all coordinates have alike, as often as there are coordinates.
void LoopFormation::repeatResult(OpOperand& operand) {
  OpBuilder builder(operand.getOwner());
  Value value = operand.get();
  SequentialState state = getResultState(operand);
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> repeated(type.getShape()), whole = repeated, dims;
  repeated.insert(repeated.begin() + state.dim, axis.getSize());
  whole[state.dim] *= axis.getSize();
  for (unsigned dim = 0; dim < type.getRank(); ++dim) dims.push_back(dim < state.dim ? dim : dim + 1);
  value = BroadcastInDimOp::create(builder, value.getLoc(), type.clone(repeated), value, dims);
  operand.set(ReshapeOp::create(builder, value.getLoc(), type.clone(whole), value));
}

/// `sharding` as users see it: over ranks, of each block that a coordinate has.
void LoopFormation::setSharding(ShardingAttr sharding, llvm::function_ref<void(StringRef, Attribute)> set) {
  SequentialState state = axis.getState(sharding);
  TensorAxes ranks = axis.getRankAxes(sharding);
  if (state.isCut() && !ranks.dims[state.dim].axes.empty()) {
    SmallVector<int64_t> blocks(sharding.getRank(), 1);
    blocks[state.dim] = axis.getSize();
    set(kBlocksAttr, DenseI64ArrayAttr::get(function.getContext(), blocks));
  }
  set(kShardingAttr, axis.getMesh().toAttr(ranks, sharding.getUnreducedKind()));
}

/// Arguments that are cut hold all coordinates, each of which reads its part.
void LoopFormation::widenArguments() {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto sharding = function.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (!sharding) continue;
    setSharding(sharding, [&](StringRef name, Attribute value) { function.setArgAttr(index, name, value); });
    SequentialState state = axis.getState(sharding);
    if (!state.isCut()) continue;
    RankedTensorType type = tensorType(argument);
    SmallVector<int64_t> shape(type.getShape());
    shape[state.dim] *= axis.getSize();
    argument.setType(type.clone(shape));
    auto axes = AxisListAttr::get(function.getContext(), axis.getMesh().getName(),
                                  AxisRefAttr::get(function.getContext(), axis.getName()));
    auto own = spmd::ShardSliceOp::create(builder, argument.getLoc(), type, argument, state.dim, axes);
    argument.replaceAllUsesExcept(own, own);
  }
}

void LoopFormation::writeLoop(const LoopSchedule& schedule, unsigned index) {
  Operation* terminator = function.front().getTerminator();
  SmallVector<Operation*> ops;
  for (Operation& op : function.front().without_terminator())
    if (LoopPlace place = schedule.get(&op); place.isInLoop && place.index == index) ops.push_back(&op);
  if (ops.empty()) return;
  LoopWriter writer(context, ops.front()->getLoc());
  for (Operation* op : schedule.getRepeated(index)) writer.add(op);
  for (Operation* op : ops) {
    if (!schedule.joinsCoordinates(op)) {
      writer.add(op);
      continue;
    }
    if (auto reduce = dyn_cast<spmd::AllReduceOp>(op)) {
      writer.accumulate(reduce);
      continue;
    }
    auto gather = cast<spmd::AllGatherOp>(op);
    for (auto [input, dim, result] : llvm::zip(gather.getInputs(), gather.getDims(), gather.getResults()))
      writer.gather(input, dim, [result = Value(result)](Value all) { Value(result).replaceAllUsesWith(all); });
  }
  for (Value value : schedule.getKept(index)) writer.keep(value);
  for (Value value : schedule.getLeft(index)) writer.leave(value);
  numStacked += schedule.getLeft(index).size();
  for (OpOperand& operand : terminator->getOpOperands()) {
    Operation* op = operand.get().getDefiningOp();
    if (!op || !schedule.varies(operand.get()) || schedule.get(op).index != index) continue;
    writer.gather(operand.get(), getResultState(operand).dim, [&operand](Value all) { operand.set(all); });
  }
  OpBuilder builder(terminator);
  writer.finish(builder);
  ++numLoops;
}

void LoopFormation::setResults() {
  Operation* terminator = function.front().getTerminator();
  function.setType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (auto sharding = function.getResultAttrOfType<ShardingAttr>(index, kShardingAttr))
      setSharding(sharding, [&](StringRef name, Attribute value) { function.setResultAttr(index, name, value); });
}

LogicalResult LoopFormation::run(bool refuse) {
  widenArguments();
  liftCoordinates(function.front());
  LoopSchedule schedule(function, axis.getMesh().getMesh(), context.axis);
  if (failed(check(schedule, refuse))) return failure();
  SmallVector<Operation*> inLoops, outside;
  SmallVector<OpOperand*> alike;
  for (OpOperand& operand : function.front().getTerminator()->getOpOperands())
    if (getResultState(operand).isCut() && !schedule.varies(operand.get())) alike.push_back(&operand);
  for (Operation& op : function.front().without_terminator())
    (schedule.get(&op).isInLoop ? inLoops : outside).push_back(&op);
  Operation* terminator = function.front().getTerminator();
  for (unsigned index = 0; index <= schedule.getNumLoops(); ++index) {
    for (Operation* op : outside)
      if (schedule.get(op).index == index) op->moveBefore(terminator);
    if (index < schedule.getNumLoops()) writeLoop(schedule, index);
  }
  for (OpOperand* operand : alike) repeatResult(*operand);
  setResults();
  for (Operation* op : llvm::reverse(inLoops)) op->erase();
  return success();
}

namespace {
struct FormLoopsPass : mlir::sgd::impl::FormLoopsPassBase<FormLoopsPass> {
  using FormLoopsPassBase::FormLoopsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    MeshAxisAttr axis = getActiveSequentialAxis(mesh);
    if (!axis) return;
    SequentialAxis sequential(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh(), axis);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      LoopFormation formation(function, sequential, axis);
      if (failed(formation.run(refuse))) return signalPassFailure();
      numLoops += formation.numLoops;
      numStacked += formation.numStacked;
    }
    mesh.setMeshAttr(MeshAttr::get(&getContext(), mesh.getMesh().getAxes().drop_front()));
  }
};
}  // namespace
