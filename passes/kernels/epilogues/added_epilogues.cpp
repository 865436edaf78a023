// Fuses additions to a matmul or convolution: a bias over its columns, with relu behind it, or a residual, in whose
// buffer the sum is then written. Additions inside of a kernel stay in it, only tensors that are in memory anyway
// become operands, and only those that nothing reads afterwards are overwritten, in whatever order ops run: fusing
// keeps no tensor that a kernel would not have kept (docs/decisions/038-epilogues-before-clusters.md has the cost
// otherwise).
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "dialects/sgd/views.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/kernels/clusters/cluster_rules.h"
#include "passes/kernels/epilogues/library_candidate.h"
#include "passes/kernels/order/buffers.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Whether `value` has a buffer whoever reads it: it is an argument's, or that of an op that is no kernel's.
bool liesInMemory(Value value) {
  Operation* op = getViewRoot(value).getDefiningOp();
  return !op || getClusterRole(op) == ClusterRole::Outside;
}

/// The vector in memory that `value` repeats: element i of `value` is its element i modulo `columns`. Null: there is
/// none.
Value getRepeatedVector(Value value, int64_t columns) {
  while (true) {
    if (tensorType(value).getNumElements() == columns && liesInMemory(value)) return value;
    if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      value = reshape.getInput();
      continue;
    }
    auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
    if (!broadcast) return {};
    RankedTensorType from = tensorType(broadcast.getInput()), to = broadcast.getType();
    int64_t innermost = 1;
    for (int64_t dim = from.getRank() - 1, target = to.getRank() - 1; dim >= 0 && broadcast.getDims()[dim] == target;
         --dim, --target) {
      if (from.getDimSize(dim) != to.getDimSize(target)) break;
      innermost *= from.getDimSize(dim);
    }
    if (innermost % columns != 0) return {};
    value = broadcast.getInput();
  }
}

class Fuser {
 public:
  Fuser(Block& block, const LibraryModel& libraries) : block(block), libraries(libraries) {}

  void run() {
    SmallVector<Operation*> candidates;
    for (Operation& op : block)
      if (LibraryCandidate::isCandidate(&op)) candidates.push_back(&op);
    for (Operation* op : candidates) visit(op);
  }

 private:
  void visit(Operation* op) {
    auto add = getOnlyReader<arith::AddFOp>(op->getResult(0));
    if (!add || add->getBlock() != &block) return;
    LibraryCandidate candidate(op, libraries);
    if (!candidate.isOneCall()) return;
    bool isFirst = getViewRoot(add.getLhs()) == op->getResult(0);
    Value other = isFirst ? add.getRhs() : add.getLhs();
    if (!fuseBias(op, candidate, add, other)) fuseResidual(op, candidate, add, other);
  }

  /// The only op that reads `value`, through reshapes alone; null where it is of another kind.
  template <typename OpTy>
  static OpTy getOnlyReader(Value value) {
    while (value.hasOneUse()) {
      Operation* user = *value.user_begin();
      if (!isa<ReshapeOp>(user)) return dyn_cast<OpTy>(user);
      value = user->getResult(0);
    }
    return {};
  }

  bool fuseBias(Operation* op, const LibraryCandidate& candidate, arith::AddFOp add, Value other) {
    int64_t columns = candidate.getColumns();
    Value vector = columns > 0 ? getRepeatedVector(other, columns) : Value();
    Operation* place = vector ? getPlace(op, add, vector) : nullptr;
    if (!place || !candidate.isTaken({fusion::EpilogueStep::kBias})) return false;
    Operation* last = add;
    fusion::Epilogue epilogue = {fusion::EpilogueStep::kBias};
    if (auto relu = getRelu(add);
        relu && candidate.isTaken({fusion::EpilogueStep::kBias, fusion::EpilogueStep::kRelu})) {
      last = relu;
      epilogue.Append(fusion::EpilogueStep::kRelu);
    }
    if (!isWritten(last->getResult(0))) return false;
    OpBuilder builder(place);
    replace(last, candidate.create(builder, {.bias = reshape(builder, vector, {columns})}, epilogue));
    return true;
  }

  static arith::MaximumFOp getRelu(arith::AddFOp add) {
    auto relu = add->hasOneUse() ? dyn_cast<arith::MaximumFOp>(*add->user_begin()) : arith::MaximumFOp();
    if (!relu || relu->getBlock() != add->getBlock()) return {};
    return isPositiveZero(relu.getLhs() == add.getResult() ? relu.getRhs() : relu.getLhs()) ? relu
                                                                                            : arith::MaximumFOp();
  }

  void fuseResidual(Operation* op, const LibraryCandidate& candidate, arith::AddFOp add, Value other) {
    Value root = getViewRoot(other);
    // Of two matmuls the later one is added to the earlier one.
    Operation* definition = root.getDefiningOp();
    bool isLater = definition && definition->getBlock() == &block && op->isBeforeInBlock(definition);
    if (isLater && LibraryCandidate::isCandidate(definition)) return;
    if (tensorType(root).getNumElements() != tensorType(other).getNumElements()) return;
    if (llvm::any_of(op->getOperands(), [&](Value factor) { return getViewRoot(factor) == root; })) return;
    Operation* place = getPlace(op, add, other);
    if (!place || !candidate.isTaken({fusion::EpilogueStep::kResidual}) || isStep(add.getResult()) ||
        !mayWriteOver(root, op, add))
      return;
    OpBuilder builder(place);
    Value residual = reshape(builder, other, tensorType(op->getResult(0)).getShape());
    replace(add, candidate.create(builder, {.residual = residual}, {fusion::EpilogueStep::kResidual}));
  }

  /// The position of a call that reads `operand` as well: at the matmul or, where that costs no more memory until
  /// there, at the addition.
  Operation* getPlace(Operation* op, Operation* add, Value operand) {
    Operation* definition = operand.getDefiningOp();
    if (!definition || definition->getBlock() != &block || definition->isBeforeInBlock(op)) return op;
    int64_t held = 0;
    for (Value factor : op->getOperands()) {
      Value root = getViewRoot(factor);
      bool isHeldAnyway = isa<BlockArgument>(root) || anyReader(root, [&](Operation* reader) {
                            return reader != op && !reader->isBeforeInBlock(add);
                          });
      if (!isHeldAnyway) held += getByteSize(root.getType());
    }
    return held <= getByteSize(op->getResult(0).getType()) ? add : nullptr;
  }

  /// Whether `is` holds for an op of the block that reads `value` or a view of it.
  bool anyReader(Value value, llvm::function_ref<bool(Operation*)> is) {
    return llvm::any_of(value.getUsers(), [&](Operation* user) {
      Operation* reader = block.findAncestorOpInBlock(*user);
      if (!reader) return true;
      return reader == user && getViewByteOffset(user) ? anyReader(user->getResult(0), is) : is(reader);
    });
  }

  /// Whether `value` would be written to memory by a kernel too: an op outside of kernels reads it. Kernels compute
  /// values that they alone read from the matmul, of which they keep no more than they need.
  bool isWritten(Value value) {
    return anyReader(value, [&](Operation* reader) {
      return reader == block.getTerminator() || getClusterRole(reader) == ClusterRole::Outside;
    });
  }

  /// Whether one op of a kernel reads `value` and nothing else does: the kernel need not keep it.
  bool isStep(Value value) { return value.hasOneUse() && !isWritten(value); }

  /// Whether the sum may be written in the buffer of `root`: it has one whatever reads it, and the matmul needs all its
  /// other readers, so that they have run before.
  bool mayWriteOver(Value root, Operation* op, arith::AddFOp add) {
    SmallVector<Operation*> needed;
    anyReader(root, [&](Operation* reader) {
      if (reader != add) needed.push_back(reader);
      return false;
    });
    Operation* definition = root.getDefiningOp();
    if (definition && definition->getBlock() != &block) return false;
    if (definition ? hasPlace(add.getResult()) : !isReturnedInPlace(add.getResult(), cast<BlockArgument>(root)))
      return false;
    if (!liesInMemory(root)) needed.push_back(definition);
    return llvm::is_contained(needed, block.getTerminator()) ? false : dependsOn(op, needed);
  }

  /// Whether `value` is returned in the buffer of an argument.
  bool hasPlace(Value value) {
    SmallVector<int64_t> aliases = getYieldAliases(block);
    for (auto [index, returned] : llvm::enumerate(block.getTerminator()->getOperands()))
      if (index < aliases.size() && aliases[index] >= 0 && getViewRoot(returned) == getViewRoot(value)) return true;
    return false;
  }

  /// Whether `value` is returned once, and in the buffer of `argument`.
  bool isReturnedInPlace(Value value, BlockArgument argument) {
    if (argument.getOwner() != &block) return false;
    SmallVector<int64_t> aliases = getYieldAliases(block);
    bool isFound = false;
    for (auto [index, returned] : llvm::enumerate(block.getTerminator()->getOperands())) {
      if (getViewRoot(returned) != value && returned != value) continue;
      if (isFound || index >= aliases.size() || aliases[index] != argument.getArgNumber()) return false;
      isFound = true;
    }
    return isFound;
  }

  /// Whether `op` cannot be computed without each of `needed`.
  bool dependsOn(Operation* op, ArrayRef<Operation*> needed) {
    if (needed.empty()) return true;
    Operation* first = needed.front();
    for (Operation* other : needed)
      if (other->isBeforeInBlock(first)) first = other;
    llvm::SmallPtrSet<Operation*, 32> found = {op};
    SmallVector<Operation*> pending = {op};
    while (!pending.empty()) {
      pending.pop_back_val()->walk([&](Operation* inner) {
        for (Value operand : inner->getOperands()) {
          Operation* producer = operand.getDefiningOp();
          Operation* ancestor = producer ? block.findAncestorOpInBlock(*producer) : nullptr;
          if (ancestor && !ancestor->isBeforeInBlock(first) && found.insert(ancestor).second)
            pending.push_back(ancestor);
        }
      });
    }
    return llvm::all_of(needed, [&](Operation* other) { return found.contains(other); });
  }

  static Value reshape(OpBuilder& builder, Value value, ArrayRef<int64_t> shape) {
    RankedTensorType type = tensorType(value).clone(shape);
    return type == value.getType() ? value : ReshapeOp::create(builder, value.getLoc(), type, value).getResult();
  }

  /// Replaces `last` by `call`, which has its value, and erases ops that computed that alone.
  void replace(Operation* last, Value call) {
    OpBuilder builder(last);
    last->getResult(0).replaceAllUsesWith(reshape(builder, call, tensorType(last->getResult(0)).getShape()));
    eraseDead(last);
  }

  /// Erases `op`, which nobody reads, and what then is read by nobody either.
  static void eraseDead(Operation* op) {
    SmallVector<Operation*> producers;
    for (Value operand : op->getOperands())
      if (Operation* producer = operand.getDefiningOp(); producer && !llvm::is_contained(producers, producer))
        producers.push_back(producer);
    op->erase();
    for (Operation* producer : producers)
      if (isOpTriviallyDead(producer)) eraseDead(producer);
  }

  Block& block;
  const LibraryModel& libraries;
};

}  // namespace

void mlir::sgd::fuseAdditions(Block& block, const LibraryModel& libraries) { Fuser(block, libraries).run(); }
