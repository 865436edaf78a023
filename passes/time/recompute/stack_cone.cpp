// Walks from slices back to parameters, kept stacks and the state that an iteration begins with.
#include "passes/time/recompute/stack_cone.h"

#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/scalar_cost.h"
#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/tensor_layout.h"
#include "llvm/ADT/ScopeExit.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::sgd;

const ConeGrowth::OpWork& ConeGrowth::getWork(Operation* op) {
  auto [entry, isNew] = works.try_emplace(op);
  if (isNew) {
    auto trips = static_cast<double>(pair.getTrips());
    bool isInBody = op->getBlock() == &pair.getProducer().getBody().front();
    bool isArithmetic = op->hasTrait<MovesElements>() || isa<arith::ConstantOp>(op) ||
                        (isElementwise(op) && getScalarCost(op) != ScalarCost::Function);
    entry->second = {times.get(op) * trips, mlir::sgd::getWork(op).getFlops() * trips,
                     isInBody && isMemoryEffectFree(op), isArithmetic};
  }
  return entry->second;
}

std::optional<unsigned> ConeGrowth::findHolder(Value value) const {
  for (unsigned stack : pair.getHolders(value))
    if (!dropped[stack]) return stack;
  return std::nullopt;
}

std::optional<StackCone> ConeGrowth::getAddition(ArrayRef<unsigned> stacks) {
  StackCone cone;
  WhileOp producer = pair.getProducer();
  llvm::scope_exit restore([&] {
    for (unsigned stack : stacks) dropped.reset(stack);
  });
  SmallVector<Value> work;
  for (unsigned stack : stacks) {
    dropped.set(stack);
    work.push_back(pair.getStacks()[stack].slice);
    // The cone so far may have read its elements from this stack.
    if (Value element = pair.getElement(stack); element && readValues.contains(element)) work.push_back(element);
  }
  DenseSet<Operation*> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (value == pair.getCounter()) continue;
    if (std::optional<unsigned> kept = findHolder(value)) {
      cone.readStacks.insert(*kept);
      cone.readValues.push_back(value);
    } else if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (producer.isInvariant(argument.getArgNumber()))
        cone.iterArgs.insert(value);
      else if (!newStacks.contains(value))
        cone.newStacks.insert(value);
    } else if (Operation* op = value.getDefiningOp(); !ops.contains(op) && seen.insert(op).second) {
      const OpWork& opWork = getWork(op);
      ++numVisited;
      if (!opWork.isRepeatable) return std::nullopt;
      cone.ops.push_back(op);
      cone.seconds += opWork.seconds;
      cone.flops += opWork.flops;
      cone.isArithmetic &= opWork.isArithmetic;
      llvm::append_range(work, op->getOperands());
    }
  }
  for (Value carried : cone.newStacks) cone.newBytes += getByteSize(carried.getType()) * pair.getTrips();
  return cone;
}

void ConeGrowth::add(ArrayRef<unsigned> stacks, const StackCone& addition) {
  for (unsigned stack : stacks) dropped.set(stack);
  ops.insert(addition.ops.begin(), addition.ops.end());
  newStacks.insert(addition.newStacks.begin(), addition.newStacks.end());
  readValues.insert(addition.readValues.begin(), addition.readValues.end());
}
