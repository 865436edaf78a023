// Where forward ops are placed: at each boundary between stages as few bytes are sent as can be.
//
// Statistics of a normalisation whose scale is a parameter of the next stage need no parameter of their own. Before the
// cut they, and what they are the statistics of, would be sent; behind it one tensor is:
//
//   %x = addf %a, %b        %w0 flows in
//   %r = rsqrt ... %x
//   %n = mulf %x, %r
//   %y = mulf %n, %w1
#include <numeric>

#include "passes/time/sequential/minimum_cut.h"
#include "passes/time/stages/placement.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// The ops that may be on `stage` or behind it, as a graph: a value of the source's side with a reader on the other one
/// is cut, once.
class BoundaryGraph {
 public:
  explicit BoundaryGraph(const ProgramFlow& flow) : flow(flow) {}

  void addOp(Operation* op) { nodes[op] = cut.addNode(); }
  /// `op` is in front of the boundary.
  void pin(Operation* op) { cut.addEdge(MinimumCut::kSource, nodes.lookup(op), MinimumCut::kInfinite); }
  bool contains(Operation* op) const { return nodes.contains(op); }

  /// `user`, or null for one that is behind the boundary, reads `value`.
  void addRead(Value value, Operation* user) {
    Operation* producer = value.getDefiningOp();
    auto [place, isNew] = values.try_emplace(value);
    if (isNew) {
      unsigned from = nodes.contains(producer) ? nodes.lookup(producer) : MinimumCut::kSource;
      place->second = cut.addNode();
      cut.addEdge(from, place->second, std::max<int64_t>(flow.getBytes(value), 1));
    }
    unsigned to = user ? nodes.lookup(user) : MinimumCut::kSink;
    cut.addEdge(place->second, to, MinimumCut::kInfinite);
    // Operands of an op before the cut are before the cut.
    if (user && nodes.contains(producer)) cut.addEdge(to, nodes.lookup(producer), MinimumCut::kInfinite);
  }

  /// Whether each op is behind the boundary.
  llvm::DenseSet<Operation*> getBehind() {
    std::vector<bool> isBehind = cut.getSinkSide();
    llvm::DenseSet<Operation*> ops;
    for (auto [op, node] : nodes)
      if (isBehind[node]) ops.insert(op);
    return ops;
  }

 private:
  const ProgramFlow& flow;
  MinimumCut cut;
  DenseMap<Operation*, unsigned> nodes;
  DenseMap<Value, unsigned> values;
};
}  // namespace

/// Places those of `open` that are on `stage` and takes them out. What reads a parameter of its own depth stays there.
void Placement::cut(unsigned stage, SmallVectorImpl<Operation*>& open) {
  BoundaryGraph graph(flow);
  const int depth = static_cast<int>(stage);
  for (Operation* op : open)
    if (depths.lookup(op) <= depth) graph.addOp(op);
  for (Operation* op : open) {
    bool isHere = graph.contains(op);
    if (isHere && getFixed(op) == depths.lookup(op)) graph.pin(op);
    for (Value operand : op->getOperands()) {
      Operation* producer = operand.getDefiningOp();
      if (!producer || flow.isShared(operand) || flow.getOwner(operand)) continue;
      if (isHere || graph.contains(producer)) graph.addRead(operand, isHere ? op : nullptr);
    }
  }
  llvm::DenseSet<Operation*> behind = graph.getBehind();
  llvm::erase_if(open, [&](Operation* op) {
    if (!graph.contains(op) || behind.contains(op)) return false;
    stages[op] = depth;
    return true;
  });
}

SmallVector<int64_t> Placement::getForwardBytes() const {
  // Differences first: of each value from its stage to the last that reads it.
  SmallVector<int64_t> bytes(numStages, 0);
  auto add = [&](Value value, int from) {
    int to = from;
    for (Operation* user : value.getUsers())
      if (isForward(user)) to = std::max(to, stages.lookup(user));
    bytes[from] += flow.getBytes(value);
    bytes[to] -= flow.getBytes(value);
  };
  for (BlockArgument parameter : flow.getParameters()) add(parameter, given.lookup(parameter));
  for (Operation& op : flow.getOps())
    if (isForward(&op) || (flow.isInGraph(&op) && op.getNumResults() > 0 && flow.getOwner(op.getResult(0))))
      for (Value result : op.getResults()) add(result, stages.lookup(&op));
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  return bytes;
}
