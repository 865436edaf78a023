// Blocks of arguments and results, and numbers of coordinates in regions.
#include "passes/time/sequential/batch_parts.h"

#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/MapVector.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/spmd/partition/passes.h"
#include "passes/time/sequential/loop_writer.h"

using namespace mlir;
using namespace mlir::sgd;

SequentialState BatchParts::getResultState(OpOperand& operand) {
  auto sharding = function.getResultAttrOfType<ShardingAttr>(operand.getOperandNumber(), kShardingAttr);
  return sharding ? axis.getState(sharding) : SequentialState();
}

/// `op` with `values` as further inputs of its regions, which a loop leaves as they are.
static void addInputs(Operation* op, ValueRange values) {
  if (auto loop = dyn_cast<WhileOp>(op)) return (void)addInvariants(loop, values);
  op->insertOperands(op->getNumOperands(), values);
  for (Region& region : op->getRegions())
    for (Value value : values) region.addArgument(value.getType(), value.getLoc());
}

/// Makes ops in loops and branches read the coordinate from outside.
void BatchParts::liftCoordinates(Operation* op) {
  llvm::MapVector<AxisListAttr, SmallVector<Operation*, 2>> users;
  for (Region& region : op->getRegions()) {
    if (region.empty()) continue;
    liftCoordinates(region.front());
    for (Operation& inner : region.front()) {
      if (auto id = dyn_cast<spmd::PartitionIdOp>(inner); id && namesAxis(id.getAxes(), attr))
        users[id.getAxes()].push_back(id);
      if (auto slice = dyn_cast<spmd::ShardSliceOp>(inner); slice && namesAxis(slice.getAxes(), attr))
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

void BatchParts::liftCoordinates(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(block))
    if (isControlFlow(&op)) liftCoordinates(&op);
}

/// Refuses values of all coordinates, but for arguments and results: those that ops need at once, and those that a loop
/// keeps for a later one.
LogicalResult BatchParts::checkKept(Operation* op, const LoopSchedule& schedule) {
  auto isReturned = [](Value value) {
    return llvm::all_of(value.getUsers(), [](Operation* user) { return isa<func::ReturnOp>(user); });
  };
  auto refuseOp = [&](StringRef reason) {
    return op->emitError() << "the " << op->getResult(0).getType() << " that is computed here " << reason
                           << " for all parts of '" << axis.getName()
                           << "' at once, which takes the memory of the whole batch; --micro-refuse allows none; "
                              "compute each row from itself, or compile without --micro-refuse";
  };
  bool isGather = isa<spmd::AllGatherOp>(op) && schedule.joinsCoordinates(op);
  if (isGather && !llvm::all_of(op->getResults(), isReturned)) return refuseOp("is needed by an op");
  LoopPlace place = schedule.get(op);
  bool isLeft = place.isInLoop && llvm::any_of(op->getResults(), [&](Value result) {
                  return schedule.getLeft(place.index).contains(result);
                });
  return isLeft ? LogicalResult(refuseOp("is kept for a later loop")) : success();
}

LogicalResult BatchParts::check(const LoopSchedule& schedule, bool refuse) {
  auto refuseOp = [&](Operation* op) {
    return op->emitError() << "the " << op->getResult(0).getType()
                           << " that is computed here needs rows of other parts "
                           << "of '" << axis.getName()
                           << "', neither as a sum over rows nor as all rows; expected each "
                              "row to be computed from itself, from sums over rows, or from all rows; compile without '"
                           << axis.getName() << "'";
  };
  WalkResult result = function.walk([&](Operation* op) {
    bool isHere = op->getParentOp() == function;
    if (schedule.joinsCoordinates(op)) {
      auto form = cast<spmd::CollectiveOpInterface>(op).getForm();
      bool isWhole = isa<spmd::AllReduceOp, spmd::AllGatherOp>(op) && form.group.getAxes().size() == 1;
      if (!isHere || !isWhole) return (void)refuseOp(op), WalkResult::interrupt();
    }
    return refuse && isHere && failed(checkKept(op, schedule)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void BatchParts::repeatResult(OpOperand& operand) {
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

/// Whether ranks that have `whole` have more rows than the global type of `attributes`.
bool BatchParts::isPadded(DictionaryAttr attributes, RankedTensorType whole, unsigned dim) {
  auto global = attributes ? attributes.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr();
  if (!global) return false;
  TensorAxes ranks = axis.getRankAxes(attributes.getAs<ShardingAttr>(kShardingAttr));
  int64_t rows = whole.getDimSize(dim) * getGroupSize(ranks.dims[dim].axes);
  return rows != cast<RankedTensorType>(global.getValue()).getDimSize(dim);
}

/// The sharding of `attributes` as users see it: over ranks, of each block that a coordinate has. `whole`: what a rank
/// has of all.
void BatchParts::setSharding(DictionaryAttr attributes, RankedTensorType whole,
                             llvm::function_ref<void(StringRef, Attribute)> set) {
  auto sharding = attributes.getAs<ShardingAttr>(kShardingAttr);
  SequentialState state = axis.getState(sharding);
  TensorAxes ranks = axis.getRankAxes(sharding);
  if (state.isCut() && (!ranks.dims[state.dim].axes.empty() || isPadded(attributes, whole, state.dim))) {
    SmallVector<int64_t> blocks(sharding.getRank(), 1);
    blocks[state.dim] = axis.getSize();
    set(kBlocksAttr, DenseI64ArrayAttr::get(function.getContext(), blocks));
  }
  set(kShardingAttr, axis.getMesh().toAttr(ranks, sharding.getUnreducedKind()));
}

/// Gathers of the parts of an argument read the argument, which has them side by side.
void BatchParts::readWhole(spmd::ShardSliceOp part) {
  for (Operation* user : llvm::make_early_inc_range(part->getUsers())) {
    auto gather = dyn_cast<spmd::AllGatherOp>(user);
    if (!gather || gather.getAxes() != part.getAxes()) continue;
    for (auto [input, dim, result] : llvm::zip(gather.getInputs(), gather.getDims(), gather.getResults()))
      if (input == part.getResult() && static_cast<uint64_t>(dim) == part.getDim())
        result.replaceAllUsesWith(part.getInput());
    if (gather.use_empty()) gather.erase();
  }
}

void BatchParts::widenArguments() {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  SmallVector<spmd::ShardSliceOp> parts;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto sharding = function.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (!sharding) continue;
    SequentialState state = axis.getState(sharding);
    RankedTensorType type = tensorType(argument);
    SmallVector<int64_t> shape(type.getShape());
    if (state.isCut()) shape[state.dim] *= axis.getSize();
    setSharding(function.getArgAttrDict(index), type.clone(shape),
                [&](StringRef name, Attribute value) { function.setArgAttr(index, name, value); });
    if (!state.isCut()) continue;
    argument.setType(type.clone(shape));
    auto axes = AxisListAttr::get(function.getContext(), axis.getMesh().getName(),
                                  AxisRefAttr::get(function.getContext(), axis.getName()));
    auto own = spmd::ShardSliceOp::create(builder, argument.getLoc(), type, argument, state.dim, axes);
    argument.replaceAllUsesExcept(own, own);
    parts.push_back(own);
  }
  for (spmd::ShardSliceOp part : parts) readWhole(part);
  liftCoordinates(function.front());
}

void BatchParts::setResults() {
  Operation* terminator = function.front().getTerminator();
  function.setType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    if (!function.getResultAttr(index, kShardingAttr)) continue;
    setSharding(function.getResultAttrDict(index), cast<RankedTensorType>(type),
                [&, index = index](StringRef name, Attribute value) { function.setResultAttr(index, name, value); });
  }
}
