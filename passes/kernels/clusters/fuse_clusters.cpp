// Replaces the ops of a function by clusters, as cluster_graph.h groups them.
#include <set>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/spmd/program_order.h"
#include "dialects/spmd/spmd_dialect.h"
#include "passes/kernels/clusters/cluster_graph.h"
#include "passes/kernels/clusters/passes.h"
#include "passes/kernels/clusters/unit_dims.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FUSECLUSTERSPASS
#include "passes/kernels/clusters/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Writes one cluster as an op: members in order, with copies of the free ops that they read.
class ClusterWriter {
 public:
  ClusterWriter(OpBuilder& builder, const Cluster& cluster, const llvm::DenseMap<Operation*, unsigned>& positions)
      : builder(builder), cluster(cluster) {
    members.assign(cluster.members.begin(), cluster.members.end());
    llvm::sort(members, [&](Operation* a, Operation* b) { return positions.lookup(a) < positions.lookup(b); });
    for (Operation* member : members)
      if (cluster.roots.contains(member)) roots.push_back(member);
  }

  void write() {
    SmallVector<Location> locations;
    SmallVector<Type> types;
    for (Operation* root : roots) {
      types.push_back(root->getResult(0).getType());
      if (locations.size() < 4) locations.push_back(root->getLoc());
    }
    Location location = FusedLoc::get(builder.getContext(), locations);
    SmallVector<Value> updated;  // an argument of its own each: nothing else may read it
    for (Operation* member : members)
      for (OpOperand& operand : member->getOpOperands()) {
        if (isUpdated(operand))
          updated.push_back(operand.get());
        else
          findInputs(operand.get());
      }
    SmallVector<Value> operands(inputs.begin(), inputs.end());
    llvm::append_range(operands, updated);
    auto op = fusion::ClusterOp::create(builder, location, types, operands);
    Block& block = op.getBody().emplaceBlock();
    for (Value operand : operands) block.addArgument(operand.getType(), operand.getLoc());
    for (auto [input, argument] : llvm::zip(inputs, block.getArguments())) mapping.map(input, argument);
    unsigned nextUpdated = inputs.size();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    for (Operation* member : members) {
      for (OpOperand& operand : member->getOpOperands())
        if (!isUpdated(operand)) copyFree(operand.get());
      Operation* copy = builder.clone(*member, mapping);
      for (OpOperand& operand : member->getOpOperands())
        if (isUpdated(operand)) copy->setOperand(operand.getOperandNumber(), block.getArgument(nextUpdated++));
    }
    SmallVector<Value> yielded;
    for (Operation* root : roots) yielded.push_back(mapping.lookup(root->getResult(0)));
    fusion::YieldOp::create(builder, location, yielded);
    for (auto [root, result] : llvm::zip(roots, op.getResults())) replacements.push_back({root->getResult(0), result});
  }

  SmallVector<std::pair<Value, Value>> replacements;

 private:
  /// The operand that a kernel overwrites in place, leaving all but the update unchanged.
  static bool isUpdated(OpOperand& operand) {
    return operand.getOperandNumber() == 0 && getClusterRole(operand.getOwner()) == ClusterRole::Update;
  }
  bool isFree(Value value) const {
    Operation* producer = value.getDefiningOp();
    return producer && !cluster.members.contains(producer) && getClusterRole(producer) == ClusterRole::Free;
  }
  bool isInput(Value value) const {
    Operation* producer = value.getDefiningOp();
    return !producer || (!cluster.members.contains(producer) && !isFree(value));
  }
  void findInputs(Value value) {
    if (isInput(value)) {
      inputs.insert(value);
    } else if (isFree(value) && seen.insert(value).second) {
      for (Value operand : value.getDefiningOp()->getOperands()) findInputs(operand);
    }
  }
  void copyFree(Value value) {
    if (!isFree(value) || mapping.contains(value)) return;
    for (Value operand : value.getDefiningOp()->getOperands()) copyFree(operand);
    builder.clone(*value.getDefiningOp(), mapping);
  }

  OpBuilder& builder;
  const Cluster& cluster;
  SmallVector<Operation*> members, roots;
  SetVector<Value> inputs;
  SmallPtrSet<Value, 16> seen;
  IRMapping mapping;
};

/// Sorts ops behind what they read, in as few rounds over the given order as there are: each round takes, in this
/// order, what is ready by then. Where there are messages, each op goes as far to the front as the given order has it:
/// a round would compute all tasks of a pipeline's stage that are ready before the one that another stage waits for.
class BlockSorter {
 public:
  explicit BlockSorter(Block& block) : block(block) {
    Operation* ordered = nullptr;
    for (auto [position, op] : llvm::enumerate(block.without_terminator())) {
      positions[&op] = position;
      ops.push_back(&op);
      if (!spmd::keepsOrder(&op)) continue;
      if (ordered) previousOrdered[&op] = ordered;
      ordered = &op;
    }
    rounds.assign(ops.size(), kUnknown);
  }

  /// Fails when ops depend on each other in a circle.
  LogicalResult run() {
    if (!previousOrdered.empty()) return runInOrder();
    for (unsigned op = 0; op < ops.size(); ++op)
      if (failed(findRounds(op))) return failure();
    SmallVector<std::pair<unsigned, unsigned>, 0> sorted;
    for (unsigned op = 0; op < ops.size(); ++op) sorted.push_back({rounds[op], op});
    llvm::sort(sorted);
    for (auto [round, op] : sorted) ops[op]->moveBefore(&block, block.without_terminator().end());
    return success();
  }

 private:
  /// Takes of the ops that are ready always the first one.
  LogicalResult runInOrder() {
    std::vector<SmallVector<unsigned, 4>> readers(ops.size());
    SmallVector<unsigned, 0> waiting(ops.size(), 0);
    std::set<unsigned> ready;
    for (unsigned op = 0; op < ops.size(); ++op) {
      SmallVector<unsigned> producers = getProducers(ops[op]);
      waiting[op] = producers.size();
      for (unsigned producer : producers) readers[producer].push_back(op);
      if (producers.empty()) ready.insert(op);
    }
    SmallVector<unsigned, 0> sorted;
    while (!ready.empty()) {
      unsigned op = *ready.begin();
      ready.erase(ready.begin());
      sorted.push_back(op);
      for (unsigned reader : readers[op])
        if (--waiting[reader] == 0) ready.insert(reader);
    }
    if (sorted.size() < ops.size()) return failure();
    for (unsigned op : sorted) ops[op]->moveBefore(&block, block.without_terminator().end());
    return success();
  }

  static constexpr unsigned kUnknown = ~0u, kOpen = ~0u - 1;

  /// The ops of the block that `op`, or a region of it, reads from, and what sends or receives before it does.
  SmallVector<unsigned> getProducers(Operation* op) const {
    SmallVector<unsigned> producers;
    auto add = [&](Operation* reader) {
      for (Value operand : reader->getOperands())
        if (Operation* producer = operand.getDefiningOp())
          if (auto known = positions.find(producer); known != positions.end()) producers.push_back(known->second);
    };
    add(op);
    if (Operation* previous = previousOrdered.lookup(op)) producers.push_back(positions.lookup(previous));
    if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>())
      for (Region& region : op->getRegions()) region.walk(add);
    return producers;
  }

  LogicalResult findRounds(unsigned start) {
    struct Open {
      unsigned op;
      SmallVector<unsigned> producers;
      size_t next = 0;
    };
    std::vector<Open> open;
    auto visit = [&](unsigned op) {
      rounds[op] = kOpen;
      open.push_back({op, getProducers(ops[op])});
    };
    if (rounds[start] == kUnknown) visit(start);
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next < top.producers.size()) {
        unsigned producer = top.producers[top.next++];
        if (rounds[producer] == kOpen) return failure();
        if (rounds[producer] == kUnknown) visit(producer);
        continue;
      }
      rounds[top.op] = 0;
      for (unsigned producer : top.producers)
        rounds[top.op] = std::max(rounds[top.op], rounds[producer] + (producer > top.op ? 1 : 0));
      open.pop_back();
    }
    return success();
  }

  Block& block;
  llvm::DenseMap<Operation*, unsigned> positions;
  llvm::DenseMap<Operation*, Operation*> previousOrdered;
  SmallVector<Operation*, 0> ops;
  SmallVector<unsigned, 0> rounds;
};

struct FuseClustersPass : mlir::sgd::impl::FuseClustersPassBase<FuseClustersPass> {
  using FuseClustersPassBase::FuseClustersPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    for (Block* block : getProgramBlocks(function)) {
      replaceByReshapes(*block);
      if (failed(form(*block, elementsPerLaunch))) {
        function.emitError("clusters depend on each other in a circle");
        return signalPassFailure();
      }
    }
  }

  static LogicalResult form(Block& block, int64_t elementsPerLaunch) {
    llvm::DenseMap<Operation*, unsigned> positions;
    for (auto [position, op] : llvm::enumerate(block)) positions[&op] = position;
    ClusterGraph graph(block, elementsPerLaunch);
    OpBuilder builder(block.getTerminator());
    SmallVector<std::pair<Value, Value>> replacements;
    for (const Cluster* cluster : graph.getClusters()) {
      ClusterWriter writer(builder, *cluster, positions);
      writer.write();
      llvm::append_range(replacements, writer.replacements);
    }
    for (auto [from, to] : replacements) from.replaceAllUsesWith(to);
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) op.erase();
    return BlockSorter(block).run();
  }
};

}  // namespace
