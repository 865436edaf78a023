// A value is read behind the boundary if its node is on the sink's side. An op has one node, or two if it is cheap: it
// may run before the boundary and again behind it.
#include "passes/time/sequential/loop_boundary.h"

#include "dialects/sgd/tensor_layout.h"

using namespace mlir;
using namespace mlir::sgd;

LoopBoundary::LoopBoundary(func::FuncOp function, const LoopSchedule& schedule, int64_t parts)
    : function(function), schedule(schedule), parts(parts) {
  for (Operation& op : function.front().without_terminator()) {
    LoopPlace place = schedule.get(&op);
    // Ops with effects stay where they are.
    latest[&op] = !isMemoryEffectFree(&op) ? place.index : schedule.getNumLoops() - (place.isInLoop ? 1 : 0);
  }
  updateLatest();
}

/// The last loop, or number outside of loops, that an op's readers allow.
void LoopBoundary::updateLatest() {
  for (Operation& op : llvm::reverse(function.front().without_terminator()))
    for (Value result : op.getResults()) {
      unsigned& own = latest[&op];
      unsigned loops = schedule.get(&op).isInLoop && !schedule.varies(result) ? 1 : 0;  // that end in between
      for (Operation* user : result.getUsers())
        if (auto known = latest.find(user); known != latest.end()) own = std::min(own, known->second - loops);
    }
}

LoopBoundary::Side LoopBoundary::getSide(Operation* op, unsigned loop) const {
  LoopPlace place = schedule.get(op);
  // Ops outside of loops that have the number of a loop run before it.
  unsigned first = loop + (place.isInLoop ? 0 : 1);
  if (place.index >= first || later.contains(op)) return Side::Behind;
  return latest.lookup(op) < first ? Side::Before : Side::Open;
}

LoopBoundary::Nodes LoopBoundary::addOp(Operation* op, unsigned loop) {
  auto [entry, isNew] = nodes.try_emplace(op);
  if (!isNew) return entry->second;
  Side side = getSide(op, loop);
  bool isRepeatable = side != Side::Behind && LoopSchedule::getRepeatCost(op);
  Nodes& own = entry->second;
  own.runs = side == Side::Before ? MinimumCut::kSource : side == Side::Behind ? MinimumCut::kSink : cut.addNode();
  own.has = isRepeatable ? cut.addNode() : own.runs;
  work.push_back(op);
  return own;
}

void LoopBoundary::addEdges(Operation* op, unsigned loop) {
  Nodes own = nodes.lookup(op);
  if (own.has != own.runs) {
    cut.addEdge(own.has, own.runs, MinimumCut::kInfinite);
    cut.addEdge(own.runs, own.has, *LoopSchedule::getRepeatCost(op) * parts);
  }
  if (own.has != MinimumCut::kSource) addReads(op, own.has, loop);
  if (getSide(op, loop) != Side::Open) return;
  for (Operation* user : op->getUsers())
    if (latest.contains(user)) cut.addEdge(addOp(user, loop).runs, own.runs, MinimumCut::kInfinite);
}

unsigned LoopBoundary::addValue(Value value, unsigned loop) {
  if (auto found = values.find(value); found != values.end()) return found->second;
  unsigned own = cut.addNode();
  values[value] = own;
  int64_t bytes = getByteSize(value.getType()) * (schedule.varies(value) ? parts : 1);
  cut.addEdge(addOp(value.getDefiningOp(), loop).has, own, bytes);
  return own;
}

/// Where `node` is on the sink's side, so are the operands of `op`.
void LoopBoundary::addReads(Operation* op, unsigned node, unsigned loop) {
  for (Value operand : op->getOperands()) {
    Operation* producer = operand.getDefiningOp();
    if (producer && getSide(producer, loop) != Side::Behind)
      cut.addEdge(addValue(operand, loop), node, MinimumCut::kInfinite);
  }
}

std::vector<Operation*> LoopBoundary::getLater(unsigned loop) {
  cut = MinimumCut();
  nodes.clear();
  values.clear();
  for (Operation& op : function.front().without_terminator())
    if (getSide(&op, loop) != Side::Before) addOp(&op, loop);
  while (!work.empty()) addEdges(work.pop_back_val(), loop);
  std::vector<bool> isBehind = cut.getSinkSide();
  std::vector<Operation*> found;
  for (Operation& op : function.front().without_terminator()) {
    if (auto entry = nodes.find(&op); entry != nodes.end() && isBehind[entry->second.runs])
      found.push_back(&op);
    else
      latest[&op] = std::min(latest[&op], schedule.get(&op).isInLoop ? loop - 1 : loop);
  }
  later = llvm::DenseSet<Operation*>(found.begin(), found.end());
  updateLatest();
  return found;
}
