// Depths from the first op to the last, leads back; then forward ops boundary by boundary, then what goes down.
#include "passes/time/stages/placement.h"

#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

static BlockArgument getOwner(const ProgramFlow& flow, Operation* op) {
  return op->getNumResults() > 0 ? flow.getOwner(op->getResult(0)) : BlockArgument();
}

Placement::Placement(const ProgramFlow& flow, const DenseMap<Value, unsigned>& parameters, unsigned numStages)
    : flow(flow), numStages(numStages) {
  for (auto [parameter, stage] : parameters) given[parameter] = static_cast<int>(stage);
  findDepths();
  findLeads();
  placeForward();
  placeGraph();
  placeOutside();
  findNeeding();
}

StageSet Placement::one(int stage) const {
  StageSet set(numStages);
  set.set(std::max(stage, 0));
  return set;
}

const StageSet& Placement::get(Value value) const {
  if (Operation* op = value.getDefiningOp()) return get(op);
  return holding.find(value)->second;
}

/// The last stage of the parameters that `op` itself reads.
int Placement::getFixed(Operation* op) const {
  int fixed = kNone;
  for (Value operand : op->getOperands())
    if (BlockArgument owner = flow.getOwner(operand))
      if (auto stage = given.find(owner); stage != given.end()) fixed = std::max(fixed, stage->second);
  return fixed;
}

void Placement::findDepths() {
  for (Operation& op : flow.getOps()) {
    int depth = getFixed(&op);
    for (Value operand : op.getOperands())
      if (Operation* producer = operand.getDefiningOp(); producer && !flow.isShared(producer))
        depth = std::max(depth, depths.lookup(producer));
    depths[&op] = flow.isShared(&op) ? kNone : depth;
  }
}

/// The first parameter whose next value is computed from `value` element by element: what goes through one number for
/// all, as a global norm does, does not say whose gradient it is.
int Placement::getGradientStage(Value value) const {
  int stage = kNone;
  for (OpOperand& use : value.getUses()) {
    int of = kNone;
    if (isa<func::ReturnOp>(use.getOwner())) {
      auto found = given.find(flow.getCarried(use));
      if (flow.getCarried(use) && found != given.end()) of = found->second;
    } else if (auto found = gradients.find(use.getOwner()); found != gradients.end()) {
      of = found->second;
    }
    if (of != kNone) stage = stage == kNone ? of : std::min(stage, of);
  }
  return stage;
}

int Placement::getLead(Value value) const {
  int lead = getGradientStage(value);
  for (Operation* user : value.getUsers())
    if (flow.isInGraph(user)) lead = std::max({lead, leads.lookup(user), getFixed(user)});
  return lead;
}

static bool isOneNumber(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getNumElements() <= 1;
}

void Placement::findLeads() {
  const bool hasLoops = flow.getLoops().getNumLoops() > 0;
  for (Operation& op : llvm::reverse(flow.getOps())) {
    if (flow.isShared(&op)) continue;
    int lead = kNone;
    if (flow.isInGraph(&op)) {
      for (Value result : op.getResults())
        if (hasLoops || !isOneNumber(result)) lead = std::max(lead, getLead(result));
      leads[&op] = lead;
      continue;
    }
    for (Value result : op.getResults()) {
      if (isOneNumber(result)) continue;
      int stage = getGradientStage(result);
      if (stage != kNone) lead = lead == kNone ? stage : std::min(lead, stage);
    }
    gradients[&op] = lead;
  }
}

bool Placement::isForward(Operation* op) const {
  if (!flow.isInGraph(op) || flow.isShared(op) || getOwner(flow, op)) return false;
  int lead = leads.lookup(op), depth = depths.lookup(op);
  return lead >= depth || (lead == kNone && getFixed(op) == depth);
}

void Placement::placeForward() {
  llvm::DenseSet<Operation*> through = findThrough();
  SmallVector<Operation*> open;
  for (Operation& op : flow.getOps())
    if (BlockArgument owner = getOwner(flow, &op)) {
      if (auto stage = given.find(owner); stage != given.end()) stages[&op] = stage->second;
    } else if (through.contains(&op)) {
      open.push_back(&op);
    }
  for (unsigned stage = 0; stage + 1 < numStages; ++stage) cut(stage, open);
  for (Operation* op : open) stages[op] = static_cast<int>(numStages) - 1;
  for (Operation& op : flow.getOps())
    if (isForward(&op) && !through.contains(&op)) stages[&op] = placeAside(&op, through);
}

/// Forward ops that others of the forward pass are computed from, and those that read parameters of their own.
llvm::DenseSet<Operation*> Placement::findThrough() const {
  llvm::DenseSet<Operation*> through;
  for (Operation& op : llvm::reverse(flow.getOps())) {
    if (!isForward(&op)) continue;
    auto isRead = [&](Operation* user) { return through.contains(user); };
    if (getFixed(&op) == depths.lookup(&op) || llvm::any_of(op.getUsers(), isRead)) through.insert(&op);
  }
  return through;
}

/// Places ops of the backward pass alone where the forward pass reads their operands.
int Placement::placeAside(Operation* op, const llvm::DenseSet<Operation*>& through) const {
  int stage = std::max(depths.lookup(op), 0);
  for (Value operand : op->getOperands()) {
    if (flow.isShared(operand) || flow.getOwner(operand)) continue;
    int read = kNone;
    for (Operation* user : operand.getUsers())
      if (through.contains(user)) read = read == kNone ? stages.lookup(user) : std::min(read, stages.lookup(user));
    stage = std::max({stage, read, getStage(operand)});
  }
  return stage;
}

int Placement::getStage(Value value) const {
  if (flow.isShared(value)) return kNone;
  if (Operation* op = value.getDefiningOp()) {
    auto stage = stages.find(op);
    return stage == stages.end() ? kNone : stage->second;
  }
  auto stage = given.find(value);
  return stage == given.end() ? kNone : stage->second;
}

/// The stage of most bytes among `values`; of several the last or the first.
int Placement::getStageOfMostBytes(ValueRange values, bool last) const {
  SmallVector<int64_t> bytes(numStages, 0);
  int best = kNone;
  for (Value value : values)
    if (int stage = getStage(value); stage != kNone) bytes[stage] += std::max<int64_t>(flow.getBytes(value), 1);
  for (int stage = 0; stage < static_cast<int>(numStages); ++stage)
    if (bytes[stage] > 0 && (best == kNone || bytes[stage] > bytes[best] || (last && bytes[stage] == bytes[best])))
      best = stage;
  return best;
}

/// Of an op that leads to gradients of earlier stages than it depends on.
int Placement::placeDescending(Operation* op) const {
  int fixed = getFixed(op), above = kNone, lead = leads.lookup(op);
  int64_t read = 0, made = 0;
  for (Value operand : op->getOperands()) {
    Operation* producer = operand.getDefiningOp();
    int stage = getStage(operand);
    if (!producer || stage == kNone || flow.getOwner(operand)) continue;
    if (isForward(producer) && stage < depths.lookup(op)) {
      fixed = std::max(fixed, stage);
    } else {
      above = above == kNone ? stage : std::min(above, stage);
      read += flow.getBytes(operand);
    }
  }
  if (above == kNone) above = std::max(depths.lookup(op), lead);
  if (fixed != kNone) return std::max(lead, std::min(fixed, above));
  // As the gradient of an embedding: rows are sent down rather than the table that they are added to.
  if (LoopSchedule::isCheap(op)) return above;
  for (Value result : op->getResults()) made += getByteSize(result.getType());  // summed over coordinates
  return read <= made ? std::max(lead, 0) : above;
}

/// Whether `stage` has all that `op` reads, or gets it for others.
bool Placement::isReadAt(Operation* op, int stage) const {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (flow.isShared(operand) || getStage(operand) == stage) return true;
    return llvm::any_of(operand.getUsers(), [&](Operation* user) {
      auto of = stages.find(user);
      return user != op && of != stages.end() && of->second == stage;
    });
  });
}

void Placement::placeGraph() {
  for (Operation& op : flow.getOps()) {
    if (!flow.isInGraph(&op) || flow.isShared(&op) || stages.contains(&op)) continue;
    if (leads.lookup(&op) != kNone)
      stages[&op] = placeDescending(&op);
    else
      stages[&op] = std::max(getStageOfMostBytes(op.getOperands(), /*last=*/true), 0);
  }
  // The gradient of a bias is a sum of what is sent down anyway.
  for (Operation& op : flow.getOps()) {
    if (!flow.isInGraph(&op) || flow.isShared(&op) || getOwner(flow, &op) || isForward(&op)) continue;
    int lead = leads.lookup(&op);
    if (lead != kNone && lead < stages.lookup(&op) && isReadAt(&op, lead)) stages[&op] = lead;
  }
}
