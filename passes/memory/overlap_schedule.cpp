// Dependences are those of memory: who writes a buffer that another one uses. Buffers are taken as a whole.
#include "passes/memory/overlap_schedule.h"

#include <set>

#include "dialects/plan/attention.h"

using namespace mlir;
using namespace mlir::sgd;

namespace mlir::sgd {

/// The clocks and the bytes alive while nodes are scheduled one after another.
class OverlapSimulation {
 public:
  explicit OverlapSimulation(const OverlapScheduler& scheduler) : scheduler(scheduler), ends(scheduler.nodes.size()) {
    for (const OverlapScheduler::Buffer& buffer : scheduler.buffers) usesLeft.push_back(buffer.numUses);
  }

  /// Whether nothing that `node` needs is under way for long.
  bool isReady(unsigned node) const {
    return llvm::all_of(scheduler.nodes[node].collectives,
                        [&](unsigned collective) { return ends[collective] <= now + kLeastHiddenSeconds; });
  }

  int64_t getAliveDuring(unsigned node) const {
    int64_t bytes = alive;
    for (unsigned buffer : scheduler.nodes[node].buffers)
      if (!isAlive(buffer)) bytes += scheduler.buffers[buffer].bytes;
    return bytes;
  }

  void run(unsigned index) {
    const OverlapScheduler::Node& node = scheduler.nodes[index];
    for (unsigned collective : node.collectives) finish(collective, node.op);
    alive = getAliveDuring(index);
    peak = std::max(peak, alive);
    order.instructions.push_back(node.op);
    if (node.isCollective) {
      linkIsFree = std::max(now, linkIsFree) + node.seconds;
      ends[index] = linkIsFree;
      underWay.push_back({index, order.overlaps.size(), now});
      order.overlaps.push_back({cast<plan::CollectiveOp>(node.op), nullptr, linkIsFree - now, 0});
    } else {
      now += node.seconds;
    }
    for (unsigned buffer : node.buffers)
      if (!isAlive(buffer)) touched.insert(buffer);
    if (!node.isCollective) release(node);
  }

  /// Ends a collective before `user`, if it is under way.
  void finish(unsigned index, Operation* user) {
    auto it = llvm::find_if(underWay, [&](const UnderWay& entry) { return entry.node == index; });
    if (it == underWay.end()) return;
    Overlap& overlap = order.overlaps[it->overlap];
    overlap.firstUser = user;
    overlap.hiddenSeconds = std::min(now, ends[index]) - it->start;
    now = std::max(now, ends[index]);
    underWay.erase(it);
    release(scheduler.nodes[index]);
  }

  OverlapOrder finishAll() {
    while (!underWay.empty()) finish(underWay.front().node, scheduler.terminator);
    return std::move(order);
  }

  int64_t peak = 0;

 private:
  struct UnderWay {
    unsigned node;
    size_t overlap;  ///< place among the overlaps
    double start;
  };

  bool isAlive(unsigned buffer) const { return touched.count(buffer) != 0; }

  void release(const OverlapScheduler::Node& node) {
    for (unsigned buffer : node.buffers)
      if (--usesLeft[buffer] == 0) alive -= scheduler.buffers[buffer].bytes;
  }

  const OverlapScheduler& scheduler;
  SmallVector<double, 0> ends;  ///< of collectives that were started
  SmallVector<unsigned, 0> usesLeft;
  llvm::DenseSet<unsigned> touched;
  SmallVector<UnderWay> underWay;
  OverlapOrder order;
  double now = 0, linkIsFree = 0;
  int64_t alive = 0;
};

}  // namespace mlir::sgd

OverlapScheduler::OverlapScheduler(func::FuncOp function, llvm::function_ref<double(Operation*)> getSeconds) {
  for (Operation& op : function.front().without_terminator())
    if (!isa<plan::AllocOp, plan::ConstantOp, plan::ViewOp>(op)) {
      addNode(&op);
      nodes.back().seconds = getSeconds(&op);
    }
  terminator = function.front().getTerminator();
  for (Value returned : terminator->getOperands())
    if (auto it = bufferOf.find(plan::getRoot(returned).root); it != bufferOf.end()) ++buffers[it->second].numUses;
}

void OverlapScheduler::addNode(Operation* op) {
  unsigned index = nodes.size();
  Node& node = nodes.emplace_back();
  node.op = op;
  node.isCollective = isa<plan::CollectiveOp>(op);
  // Reads first: what an instruction updates is ordered after the reads of others.
  llvm::MapVector<Value, bool> accesses;
  SmallVector<Value> written;
  if (auto launch = dyn_cast<plan::LaunchOp>(op)) llvm::append_range(written, launch.getOutputs());
  if (auto matmul = dyn_cast<plan::MatmulOp>(op)) {
    written.push_back(matmul.getC());
    if (matmul.writesAux()) written.push_back(matmul.getAux());
    if (matmul.getSums()) written.push_back(matmul.getSums());
    if (matmul.getWorkspace()) written.push_back(matmul.getWorkspace());
  }
  if (auto convolution = dyn_cast<plan::ConvolutionOp>(op)) {
    written.push_back(convolution.getResult());
    if (convolution.getWorkspace()) written.push_back(convolution.getWorkspace());
  }
  if (auto attention = dyn_cast<plan::AttentionOp>(op)) {
    written.append({attention.getOut(), attention.getLogSum()});
    if (attention.getWorkspace()) written.push_back(attention.getWorkspace());
  }
  if (auto gradient = dyn_cast<plan::AttentionGradientOp>(op)) {
    written.append({gradient.getQueryGradient(), gradient.getKeyGradient(), gradient.getValueGradient()});
    if (gradient.getWorkspace()) written.push_back(gradient.getWorkspace());
  }
  if (auto collective = dyn_cast<plan::CollectiveOp>(op)) {
    llvm::append_range(written, collective.getTargets());
    if (collective.getStaging()) written.push_back(collective.getStaging());
  }
  if (auto tiled = dyn_cast<plan::TiledOp>(op)) llvm::append_range(written, tiled.getOutputs());
  if (auto loop = dyn_cast<plan::LoopOp>(op)) llvm::append_range(written, loop.getSlots());
  if (auto branches = dyn_cast<plan::CaseOp>(op)) llvm::append_range(written, branches.getOutputs());
  if (auto copy = dyn_cast<plan::CopyOp>(op)) written.push_back(copy.getTarget());
  if (auto fill = dyn_cast<plan::FillOp>(op)) written.push_back(fill.getTarget());
  for (Value operand : op->getOperands()) accesses[plan::getRoot(operand).root] |= llvm::is_contained(written, operand);
  for (auto [root, isWrite] : accesses)
    if (!root.getDefiningOp<plan::ConstantOp>()) addAccess(index, root, isWrite);
}

void OverlapScheduler::addAccess(unsigned index, Value root, bool isWrite) {
  auto [it, isNew] = bufferOf.try_emplace(root, buffers.size());
  // Arguments are alive all the time.
  if (isNew)
    buffers.emplace_back().bytes =
        root.getDefiningOp<plan::AllocOp>() ? plan::getByteSize(cast<MemRefType>(root.getType())) : 0;
  Buffer& buffer = buffers[it->second];
  nodes[index].buffers.push_back(it->second);
  ++buffer.numUses;
  if (!isWrite) {
    if (buffer.writer) addEdge(*buffer.writer, index);
    buffer.readers.push_back(index);
    return;
  }
  for (unsigned reader : buffer.readers) addEdge(reader, index);
  if (buffer.writer) addEdge(*buffer.writer, index);
  buffer.writer = index;
  buffer.readers.clear();
}

void OverlapScheduler::addEdge(unsigned from, unsigned to) {
  nodes[from].successors.push_back(to);
  ++nodes[to].numPredecessors;
  if (nodes[from].isCollective) nodes[to].collectives.push_back(from);
}

OverlapOrder OverlapScheduler::keepOrder() const {
  OverlapSimulation simulation(*this);
  for (unsigned node = 0; node < nodes.size(); ++node) simulation.run(node);
  return simulation.finishAll();
}

int64_t OverlapScheduler::getPeakAlive() const {
  OverlapSimulation simulation(*this);
  for (unsigned node = 0; node < nodes.size(); ++node) {
    simulation.run(node);
    simulation.finish(node, nullptr);
  }
  return simulation.peak;
}

OverlapOrder OverlapScheduler::reorder(int64_t aliveLimit) const {
  OverlapSimulation simulation(*this);
  SmallVector<unsigned, 0> waiting;
  std::set<unsigned> collectives, others;  // whose predecessors are all there, by their given order
  auto add = [&](unsigned node) { (nodes[node].isCollective ? collectives : others).insert(node); };
  for (unsigned node = 0; node < nodes.size(); ++node)
    if (waiting.push_back(nodes[node].numPredecessors), waiting.back() == 0) add(node);
  auto isGood = [&](unsigned node) {
    return simulation.isReady(node) && simulation.getAliveDuring(node) <= aliveLimit;
  };
  while (!collectives.empty() || !others.empty()) {
    std::set<unsigned>* from = &collectives;
    auto next = llvm::find_if(collectives, isGood);
    if (next == collectives.end()) next = llvm::find_if(*(from = &others), isGood);
    if (next == from->end()) {
      from =
          others.empty() || (!collectives.empty() && *collectives.begin() < *others.begin()) ? &collectives : &others;
      next = from->begin();
    }
    unsigned node = *next;
    from->erase(next);
    simulation.run(node);
    for (unsigned successor : nodes[node].successors)
      if (--waiting[successor] == 0) add(successor);
  }
  return simulation.finishAll();
}
