// Gives the ops of a function an order that follows from what they compute, so that the order in which a program
// happens to be written decides nothing later: by the longest chain of operands before an op, then by when a walk from
// the results meets it.
#include <deque>

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/normalize/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_NORMALIZEORDERPASS
#include "passes/graph/normalize/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The ops of `block` that `op` or its regions take values from, in the order of their operands.
SmallVector<Operation*> getProducers(Operation* op, Block& block) {
  SmallVector<Operation*> producers;
  op->walk<WalkOrder::PreOrder>([&](Operation* inner) {
    for (Value operand : inner->getOperands()) {
      Operation* producer = operand.getDefiningOp();
      Operation* outer = producer ? block.findAncestorOpInBlock(*producer) : nullptr;
      if (outer && outer != op) producers.push_back(outer);
    }
  });
  return producers;
}

class Walk {
 public:
  explicit Walk(Block& block) : block(block) {}

  /// All ops, each once, after its producers: those that the results need first.
  ArrayRef<Operation*> run() {
    from(block.getTerminator());
    for (Operation& op : block.without_terminator())
      if (op.use_empty()) from(&op);
    return done;
  }

  /// The number of ops on the longest chain of producers before `op`.
  int64_t getDepth(Operation* op) const { return depth.lookup(op); }

 private:
  struct Open {
    Operation* op;
    SmallVector<Operation*> producers;
    size_t next = 0;
  };

  void open(Operation* op) {
    if (depth.try_emplace(op, 0).second) stack.push_back({op, getProducers(op, block)});
  }

  void from(Operation* root) {
    open(root);
    while (!stack.empty()) {
      Open& top = stack.back();
      if (top.next < top.producers.size()) {
        open(top.producers[top.next++]);
        continue;
      }
      int64_t own = 0;
      for (Operation* producer : top.producers) own = std::max(own, depth.lookup(producer) + 1);
      depth[top.op] = own;
      done.push_back(top.op);
      stack.pop_back();
    }
  }

  Block& block;
  std::deque<Open> stack;
  llvm::DenseMap<Operation*, int64_t> depth;
  SmallVector<Operation*, 0> done;
};

struct NormalizeOrderPass : mlir::sgd::impl::NormalizeOrderPassBase<NormalizeOrderPass> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody())) return;
    for (Block* block : getProgramBlocks(function)) normalize(*block);
  }

  static void normalize(Block& block) {
    Operation* terminator = block.getTerminator();
    // Ops with effects are ordered by the program.
    if (!llvm::all_of(block.without_terminator(), [](Operation& op) { return isMemoryEffectFree(&op); })) return;
    Walk walk(block);
    SmallVector<std::pair<int64_t, size_t>, 0> keys;
    ArrayRef<Operation*> met = walk.run();
    for (auto [index, op] : llvm::enumerate(met))
      if (op != terminator) keys.push_back({walk.getDepth(op), index});
    llvm::sort(keys);
    for (auto [depth, index] : keys) met[index]->moveBefore(terminator);
  }
};

}  // namespace
