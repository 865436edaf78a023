// Dependences are those of memory: which instruction writes a buffer that another one uses. Buffers count as a whole.
#include "passes/plan/overlap/overlap_schedule.h"

#include "dialects/plan/host_call.h"
#include "dialects/plan/host_copy.h"

#include <queue>
#include <set>

using namespace mlir;
using namespace mlir::sgd;

namespace mlir::sgd {

/// The clocks and the bytes alive while nodes are scheduled one after another.
class OverlapSimulation {
 public:
  explicit OverlapSimulation(const OverlapScheduler& scheduler)
      : scheduler(scheduler),
        ends(scheduler.nodes.size()),
        touched(scheduler.buffers.size()),
        isUnderWay(scheduler.nodes.size()) {
    for (const OverlapScheduler::Buffer& buffer : scheduler.buffers) usesLeft.push_back(buffer.numUses);
  }

  /// When the last collective ends that `node` needs, all of which were started.
  double getReadyTime(unsigned node) const {
    double time = 0;
    for (unsigned collective : scheduler.nodes[node].collectives) time = std::max(time, ends[collective]);
    return time;
  }
  /// Collectives that end later are not waited for while there is something else to do.
  double getUntil() const { return now + kLeastHiddenSeconds; }

  int64_t getAlive() const { return alive; }
  /// Bytes that are alive during `node` and were not before.
  int64_t getNewBytes(unsigned node) const {
    int64_t bytes = 0;
    for (unsigned buffer : scheduler.nodes[node].buffers)
      if (!isAlive(buffer)) bytes += scheduler.buffers[buffer].bytes;
    return bytes;
  }
  bool isAlive(unsigned buffer) const { return touched[buffer]; }

  void run(unsigned index) {
    const OverlapScheduler::Node& node = scheduler.nodes[index];
    for (unsigned collective : node.collectives) finish(collective, node.op);
    alive += getNewBytes(index);
    peak = std::max(peak, alive);
    order.instructions.push_back(node.op);
    if (node.isCollective) {
      linkIsFree = std::max(now, linkIsFree) + node.seconds;
      ends[index] = linkIsFree;
      underWay.push_back({index, order.overlaps.size(), now});
      isUnderWay[index] = true;
      order.overlaps.push_back({cast<plan::CollectiveOp>(node.op), nullptr, linkIsFree - now, 0});
    } else {
      now += node.seconds;
    }
    for (unsigned buffer : node.buffers) touched[buffer] = true;
    if (!node.isCollective) release(node);
  }

  /// Ends a collective before `user`, if it is in flight.
  void finish(unsigned index, Operation* user) {
    if (!isUnderWay[index]) return;
    isUnderWay[index] = false;
    auto it = llvm::find_if(underWay, [&](const UnderWay& entry) { return entry.node == index; });
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

  void release(const OverlapScheduler::Node& node) {
    for (unsigned buffer : node.buffers)
      if (--usesLeft[buffer] == 0) alive -= scheduler.buffers[buffer].bytes;
  }

  const OverlapScheduler& scheduler;
  SmallVector<double, 0> ends;  ///< of collectives that were started
  SmallVector<unsigned, 0> usesLeft;
  std::vector<bool> touched;
  SmallVector<UnderWay> underWay;
  std::vector<bool> isUnderWay;  ///< by node
  OverlapOrder order;
  double now = 0, linkIsFree = 0;
  int64_t alive = 0;
};

}  // namespace mlir::sgd

OverlapScheduler::OverlapScheduler(func::FuncOp function, llvm::function_ref<double(Operation*)> getSeconds) {
  for (auto instruction : function.front().getOps<plan::InstructionOpInterface>()) {
    addNode(instruction);
    nodes.back().seconds = getSeconds(instruction);
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
  for (auto [operand, access] : llvm::zip(op->getOperands(), plan::getAccesses(op)))
    if (isa<MemRefType>(operand.getType())) accesses[plan::getRoot(operand).root] |= access.writes;
  // The end of a host copy stays behind the copy, and before all that its memory is for next.
  if (auto copied = dyn_cast<plan::HostCopiedOp>(op))
    for (Value operand : copied.getCopy()->getOperands()) accesses[plan::getRoot(operand).root] = true;
  for (auto [root, isWrite] : accesses)
    if (!root.getDefiningOp<plan::ConstantOp>()) addAccess(index, root, isWrite);
  if (!plan::keepsOrder(op)) return;
  if (lastOrdered) addEdge(*lastOrdered, index);
  lastOrdered = index;
}

void OverlapScheduler::addAccess(unsigned index, Value root, bool isWrite) {
  auto [it, isNew] = bufferOf.try_emplace(root, buffers.size());
  // Arguments are alive all the time.
  if (isNew)
    buffers.emplace_back().bytes =
        root.getDefiningOp<plan::AllocOp>() ? getByteSize(cast<MemRefType>(root.getType())) : 0;
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

namespace {
/// Nodes whose predecessors are all there, by their given order: asked for the first of those that wait for nothing in
/// flight and take at most so many bytes. Answers in the logarithm of the number of nodes.
class ReadyNodes {
 public:
  explicit ReadyNodes(size_t numNodes) : least(2 * llvm::PowerOf2Ceil(numNodes + 1), kNone) {}

  /// `from` is when the last collective ends that it needs.
  void add(unsigned node, double from, int64_t bytes) {
    all.insert(node);
    bytesOf[node] = bytes;
    inFlight.push({from, node});
  }
  void remove(unsigned node) {
    all.erase(node);
    bytesOf.erase(node);
    set(node, kNone);
  }
  bool empty() const { return all.empty(); }
  unsigned front() const { return *all.begin(); }

  /// `node`, if it is one of these, is to allocate `bytes` fewer.
  void reduce(unsigned node, int64_t bytes) {
    auto found = bytesOf.find(node);
    if (found == bytesOf.end()) return;
    found->second -= bytes;
    if (least[getLeaf(node)] != kNone) set(node, found->second);
  }

  /// The first node that waits for nothing which ends later than `until` and takes at most `bytes`.
  std::optional<unsigned> find(double until, int64_t bytes) {
    for (; !inFlight.empty() && inFlight.top().first <= until; inFlight.pop())
      if (auto found = bytesOf.find(inFlight.top().second); found != bytesOf.end()) set(found->first, found->second);
    if (least[1] == kNone || least[1] > bytes) return std::nullopt;
    size_t place = 1;
    while (place < least.size() / 2) place = 2 * place + (least[2 * place] == kNone || least[2 * place] > bytes);
    return place - least.size() / 2;
  }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  using Waiting = std::pair<double, unsigned>;

  size_t getLeaf(unsigned node) const { return least.size() / 2 + node; }
  void set(unsigned node, int64_t bytes) {
    size_t place = getLeaf(node);
    least[place] = bytes;
    while (place /= 2) least[place] = std::min(least[2 * place], least[2 * place + 1]);
  }

  std::set<unsigned> all;
  llvm::DenseMap<unsigned, int64_t> bytesOf;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> inFlight;
  std::vector<int64_t> least;  // of those that wait for nothing: a tree over all nodes
};
}  // namespace

OverlapOrder OverlapScheduler::reorder(int64_t aliveLimit) const {
  OverlapSimulation simulation(*this);
  std::vector<SmallVector<unsigned, 4>> users(buffers.size());
  SmallVector<unsigned, 0> waiting;
  ReadyNodes collectives(nodes.size()), others(nodes.size());
  auto add = [&](unsigned node) {
    (nodes[node].isCollective ? collectives : others)
        .add(node, simulation.getReadyTime(node), simulation.getNewBytes(node));
  };
  for (unsigned node = 0; node < nodes.size(); ++node) {
    for (unsigned buffer : nodes[node].buffers) users[buffer].push_back(node);
    if (waiting.push_back(nodes[node].numPredecessors), waiting.back() == 0) add(node);
  }
  for (size_t done = 0; done < nodes.size(); ++done) {
    auto find = [&](ReadyNodes& ready) {
      return ready.find(simulation.getUntil(), aliveLimit - simulation.getAlive());
    };
    std::optional<unsigned> next = find(collectives);
    if (!next) next = find(others);
    if (!next)
      next = others.empty() || (!collectives.empty() && collectives.front() < others.front()) ? collectives.front()
                                                                                              : others.front();
    (nodes[*next].isCollective ? collectives : others).remove(*next);
    for (unsigned buffer : nodes[*next].buffers)
      if (!simulation.isAlive(buffer))
        for (unsigned user : users[buffer])
          (nodes[user].isCollective ? collectives : others).reduce(user, buffers[buffer].bytes);
    simulation.run(*next);
    for (unsigned successor : nodes[*next].successors)
      if (--waiting[successor] == 0) add(successor);
  }
  return simulation.finishAll();
}
