// Orders the ops of a function so that fewer bytes are alive at the same time. Values are immutable here; buffers that
// will be shared (views, updates in place, results in the buffers of arguments) are counted as such.
#include "dialects/fusion/library_calls.h"
#include "dialects/sgd/views.h"
#include "dialects/spmd/spmd_dialect.h"
#include "passes/kernels/order/buffers.h"
#include "passes/kernels/order/passes.h"
#include "passes/kernels/order/topological_order.h"

#include <set>

namespace mlir::sgd {
#define GEN_PASS_DEF_ORDERPASS
#include "passes/kernels/order/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The dependences between the ops of a block, and the bytes that each op allocates and frees.
class Graph {
 public:
  explicit Graph(Block& block) : block(block) {
    for (Operation& op : block.without_terminator()) {
      index[&op] = ops.size();
      ops.push_back(&op);
    }
    successors.resize(ops.size());
    predecessors.resize(ops.size());
    addValues();
    addAliases();
    readers.resize(storages.size());
    for (unsigned node = 0; node < ops.size(); ++node)
      for (unsigned storage : used[node]) readers[storage].push_back(node);
  }

  size_t size() const { return ops.size(); }
  Operation* getOp(unsigned node) const { return ops[node]; }
  ArrayRef<unsigned> getSuccessors(unsigned node) const { return successors[node]; }
  unsigned getNumPredecessors(unsigned node) const { return predecessors[node]; }

  /// Counts what is alive while nodes are scheduled one after another.
  class Simulation {
   public:
    explicit Simulation(const Graph& graph) : graph(graph) {
      for (const Storage& storage : graph.storages) usesLeft.push_back(storage.numUses);
    }
    /// Bytes alive during `node`, and after it, relative to before.
    std::pair<int64_t, int64_t> preview(unsigned node) const {
      int64_t allocated = 0, freed = 0;
      for (unsigned storage : graph.defined[node]) allocated += graph.storages[storage].bytes;
      for (unsigned storage : graph.used[node])
        if (usesLeft[storage] == 1) freed += graph.storages[storage].bytes;
      bool inPlace =
          isa<fusion::ClusterOp, WhileOp, spmd::AllReduceOp>(graph.ops[node]) || fusion::getResidual(graph.ops[node]);
      return {inPlace ? std::max<int64_t>(0, allocated - freed) : allocated, allocated - freed};
    }
    /// Calls `changed` for the nodes, run or not, that preview() says something new of.
    void run(unsigned node, llvm::function_ref<void(unsigned)> changed) {
      auto [during, after] = preview(node);
      peak = std::max(peak, alive + during);
      alive += after;
      for (unsigned storage : graph.used[node])
        if (--usesLeft[storage] == 1) llvm::for_each(graph.readers[storage], changed);
    }
    int64_t peak = 0;

   private:
    const Graph& graph;
    SmallVector<unsigned, 0> usesLeft;
    int64_t alive = 0;
  };

 private:
  struct Storage {
    int64_t bytes = 0;
    unsigned numUses = 0;  ///< nodes that read it; one more when it outlives the function
  };

  void addEdge(unsigned from, unsigned to) {
    successors[from].push_back(to);
    ++predecessors[to];
  }

  unsigned getStorage(Value value) {
    auto [it, isNew] = storageOf.try_emplace(value, storages.size());
    // Constants are in the artifact; arguments are alive all the time.
    bool isAllocated = isa<OpResult>(value) && !value.getDefiningOp<arith::ConstantOp>();
    if (isNew) storages.push_back({isAllocated ? getByteSize(value.getType()) : 0, 0});
    return it->second;
  }

  void addValues() {
    defined.resize(ops.size());
    used.resize(ops.size());
    for (auto [node, op] : llvm::enumerate(ops)) {
      for (Value result : op->getResults())
        if (getViewRoot(result) == result) defined[node].push_back(getStorage(result));
      SmallPtrSet<Operation*, 8> before;
      for (Value operand : op->getOperands()) {
        if (Operation* producer = operand.getDefiningOp(); producer && before.insert(producer).second)
          addEdge(index.at(producer), node);
        unsigned storage = getStorage(getViewRoot(operand));
        if (!llvm::is_contained(used[node], storage)) used[node].push_back(storage);
      }
      for (unsigned storage : used[node]) ++storages[storage].numUses;
    }
    addBarriers();
    for (Value returned : block.getTerminator()->getOperands()) ++storages[getStorage(getViewRoot(returned))].numUses;
  }

  /// Nothing is moved across an op with effects.
  void addBarriers() {
    std::optional<unsigned> barrier;
    for (unsigned node = 0; node < ops.size(); ++node) {
      if (!isMemoryEffectFree(ops[node])) {
        for (unsigned before = barrier.value_or(0); before < node; ++before) addEdge(before, node);
        barrier = node;
      } else if (barrier) {
        addEdge(*barrier, node);
      }
    }
  }

  /// A result that takes an argument's buffer can be written there once all others have read the argument; it then
  /// needs no memory.
  void addAliases() {
    TopologicalOrder order(ops.size());
    std::vector<SmallVector<unsigned, 4>> argumentReaders(block.getNumArguments());
    for (unsigned node = 0; node < ops.size(); ++node) {
      if (getViewByteOffset(ops[node])) continue;
      for (Value operand : ops[node]->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(getViewRoot(operand)))
          if (auto& list = argumentReaders[argument.getArgNumber()]; list.empty() || list.back() != node)
            list.push_back(node);
    }
    for (auto [result, argument] : llvm::enumerate(getYieldAliases(block))) {
      if (argument < 0) continue;
      Operation* producer = getViewRoot(block.getTerminator()->getOperand(result)).getDefiningOp();
      if (!producer) continue;
      unsigned last = index.at(producer);
      bool isInPlace = true;
      for (unsigned node : argumentReaders[argument])
        if (node != last) isInPlace &= addEdgeIfPossible(order, node, last);
      Value root = getViewRoot(block.getTerminator()->getOperand(result));
      if (isInPlace && getByteSize(root.getType()) == getByteSize(block.getArgument(argument).getType()))
        storages[getStorage(root)].bytes = 0;
    }
  }

  /// Adds an edge unless `to` leads to `from`.
  bool addEdgeIfPossible(TopologicalOrder& order, unsigned from, unsigned to) {
    if (order.isBefore(to, from)) {
      SmallVector<unsigned> between = {to};
      llvm::SmallDenseSet<unsigned> seen = {to};
      for (size_t i = 0; i < between.size(); ++i)
        for (unsigned next : successors[between[i]]) {
          if (next == from) return false;
          if (order.isBefore(next, from) && seen.insert(next).second) between.push_back(next);
        }
      order.moveBehind(between, from);
    }
    addEdge(from, to);
    return true;
  }

  Block& block;
  SmallVector<Operation*, 0> ops;
  llvm::DenseMap<Operation*, unsigned> index;
  std::vector<SmallVector<unsigned, 4>> successors, defined, used;  // of nodes
  std::vector<SmallVector<unsigned, 4>> readers;                    // of storages
  SmallVector<unsigned, 0> predecessors;
  llvm::DenseMap<Value, unsigned> storageOf;
  SmallVector<Storage, 0> storages;
};

struct Schedule {
  SmallVector<unsigned, 0> nodes;
  int64_t peak = 0;
};

/// Takes, of the nodes that are ready, the one for which `rank`, an array of numbers that ends with the node, is least.
template <typename Rank>
Schedule schedule(const Graph& graph, Rank rank) {
  Schedule result;
  Graph::Simulation simulation(graph);
  SmallVector<unsigned, 0> waiting;
  using Key = decltype(rank(simulation, 0));
  SmallVector<std::optional<Key>, 0> keys(graph.size());  // of the nodes that are ready
  std::set<Key> ready;                                    // ends with the node
  auto add = [&](unsigned node) { ready.insert(*(keys[node] = rank(simulation, node))); };
  for (unsigned node = 0; node < graph.size(); ++node) {
    waiting.push_back(graph.getNumPredecessors(node));
    if (waiting.back() == 0) add(node);
  }
  while (!ready.empty()) {
    unsigned node = ready.begin()->back();
    ready.erase(ready.begin());
    keys[node].reset();
    simulation.run(node, [&](unsigned other) {
      if (!keys[other]) return;
      ready.erase(*keys[other]);
      add(other);
    });
    result.nodes.push_back(node);
    for (unsigned next : graph.getSuccessors(node))
      if (--waiting[next] == 0) add(next);
  }
  result.peak = simulation.peak;
  return result;
}

struct OrderPass : mlir::sgd::impl::OrderPassBase<OrderPass> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody())) return;
    for (Block* block : getProgramBlocks(function)) sort(*block);
  }

  static void sort(Block& block) {
    Graph graph(block);
    Schedule best = schedule(graph, [](const Graph::Simulation&, unsigned node) { return std::array{node}; });
    Schedule greedy = schedule(graph, [](const Graph::Simulation& simulation, unsigned node) {
      auto [during, after] = simulation.preview(node);
      return std::array<int64_t, 3>{after, during, node};
    });
    if (greedy.peak < best.peak) best = std::move(greedy);
    // A cycle is impossible: every edge was checked.
    Operation* terminator = block.getTerminator();
    for (unsigned node : best.nodes) graph.getOp(node)->moveBefore(terminator);
  }
};

}  // namespace
