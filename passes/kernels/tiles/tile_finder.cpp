// Groups grow from a cluster over matmuls that are large on the cluster's side.
#include "passes/kernels/tiles/tile_finder.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/spmd/program_order.h"
#include "dialects/spmd/spmd_dialect.h"
#include "passes/kernels/clusters/cluster_rules.h"
#include "passes/kernels/order/buffers.h"

using namespace mlir;
using namespace mlir::sgd;

/// A matmul is large on one side when that tensor has so many times the elements of each other one.
static constexpr int64_t kLarge = 2;
/// Operations per element of a kernel with an exponential and two reductions.
static constexpr int64_t kKernelFlops = 32;

namespace {

bool isExpanding(fusion::MatmulOp op) {
  int64_t result = getNumElements(op.getResult());
  return result >= kLarge * getNumElements(op.getLhs()) && result >= kLarge * getNumElements(op.getRhs());
}

bool isContracting(fusion::MatmulOp op, Value from) {
  return getNumElements(from) >= kLarge * getNumElements(op.getResult());
}

int64_t getFlops(fusion::MatmulOp op) {
  int64_t flops = 2 * getNumElements(op.getResult());
  for (auto [label, size] : llvm::zip(op.getLhsLabels(), cast<RankedTensorType>(op.getLhs().getType()).getShape()))
    if (!llvm::is_contained(op.getResultLabels(), label)) flops *= size;
  return flops;
}

/// Ops of one block, in its order.
SmallVector<Operation*> inOrder(const SetVector<Operation*>& ops) {
  SmallVector<Operation*> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
  return sorted;
}

class Finder {
 public:
  Finder(fusion::ClusterOp cluster, int64_t flopsPerByte) : flopsPerByte(flopsPerByte) { group.insert(cluster); }

  FoundGroup run() {
    grow();
    // Without a matmul there is nothing to tile, and the other readers of the cluster's operands need no check.
    if (llvm::none_of(group, [](Operation* op) { return isa<fusion::MatmulOp>(op); })) return {};
    if (recompute()) grow();
    return {inOrder(group), std::move(originals)};
  }

 private:
  bool isUsedOnlyHere(Value value) const {
    return llvm::all_of(value.getUsers(), [&](Operation* user) { return group.contains(user); });
  }

  /// Adds matmuls whose large result only the group reads, and those that contract a large result of its kernels.
  void grow() {
    for (size_t next = 0; next < group.size(); ++next) {
      auto cluster = dyn_cast<fusion::ClusterOp>(group[next]);
      if (!cluster) continue;
      for (Value operand : cluster.getInputs())
        if (auto matmul = operand.getDefiningOp<fusion::MatmulOp>())
          if (isExpanding(matmul) && isUsedOnlyHere(operand)) group.insert(matmul);
      for (Value result : cluster.getResults())
        for (Operation* user : result.getUsers())
          if (auto matmul = dyn_cast<fusion::MatmulOp>(user); matmul && isContracting(matmul, result))
            insertReader(matmul);
    }
  }

  /// Takes in a reader unless it has to wait for what is computed from the group.
  void insertReader(fusion::MatmulOp matmul) {
    if (group.insert(matmul) && !isConvex(inOrder(group))) group.remove(matmul);
  }

  /// Whether any op of the group depends on `op`, which comes before it.
  bool feedsGroup(Operation* op) const {
    SmallPtrSet<Operation*, 32> dependent = {op};
    Operation* last = inOrder(group).back();
    for (Operation* next = op; next != last;) {
      next = next->getNextNode();
      if (!next) return false;
      bool depends =
          llvm::any_of(next->getOperands(), [&](Value operand) { return dependent.contains(operand.getDefiningOp()); });
      if (!depends) continue;
      if (group.contains(next)) return true;
      dependent.insert(next);
    }
    return false;
  }

  /// Matmuls of results of `source` that can wait for the group.
  SmallVector<Operation*> getLaterReaders(fusion::ClusterOp source) {
    SmallVector<Operation*> readers;
    for (Operation* user : source->getUsers())
      if (isa<fusion::MatmulOp>(user) && !group.contains(user) && !feedsGroup(user)) readers.push_back(user);
    return readers;
  }

  /// Whether another copy of `source` costs less than writing its results and reading them again here. `later` are the
  /// readers that would use the copy, besides the group.
  bool isCheaperAgain(fusion::ClusterOp source, ArrayRef<Operation*> later) {
    int64_t bytes = 0, flops = 0, largest = 0;
    bool isReadElsewhere = false;
    for (Value result : source.getResults()) {
      largest = std::max(largest, getNumElements(result));
      // Read here by kernels or matmuls that contract it, and elsewhere by nothing that keeps it.
      bool isReadHere = false, isKept = false;
      for (Operation* user : result.getUsers()) {
        auto matmul = dyn_cast<fusion::MatmulOp>(user);
        bool isHere = group.contains(user) || llvm::is_contained(later, user);
        isReadHere |= isHere;
        isReadElsewhere |= !isHere;
        isKept |= (matmul && !isContracting(matmul, result)) || (!isHere && !matmul);
      }
      if (isReadHere && !isKept) bytes += 2 * getByteSize(result.getType());
    }
    for (Value operand : source.getInputs()) {
      auto matmul = operand.getDefiningOp<fusion::MatmulOp>();
      bool isOwnMatmul = matmul && isExpanding(matmul) && operand.hasOneUse();
      if (isOwnMatmul) flops += getFlops(matmul);
      // Its operands must not have to be kept instead.
      if (!isOwnMatmul && kLarge * getNumElements(operand) > largest) return false;
    }
    flops += largest * kKernelFlops;
    return isReadElsewhere && bytes > 0 && flops <= bytes * flopsPerByte;
  }

  /// Clones kernels whose results are read here and elsewhere earlier, with their matmuls.
  bool recompute() {
    SetVector<Operation*> sources;
    for (Operation* op : group)
      for (Value operand : op->getOperands())
        if (auto source = operand.getDefiningOp<fusion::ClusterOp>(); source && !group.contains(source))
          sources.insert(source);
    bool changed = false;
    for (Operation* op : sources) {
      auto source = cast<fusion::ClusterOp>(op);
      SmallVector<Operation*> later = getLaterReaders(source);
      if (!isCheaperAgain(source, later)) continue;
      for (Operation* reader : later) group.insert(reader);
      clone(source);
      changed = true;
    }
    return changed;
  }

  void clone(fusion::ClusterOp source) {
    OpBuilder builder(inOrder(group).front());
    // Not before the copy's operands: the group's first op comes after `source` in some order, not in this one.
    if (builder.getInsertionPoint()->isBeforeInBlock(source)) builder.setInsertionPointAfter(source);
    IRMapping mapping;
    for (Value operand : source.getInputs())
      if (auto matmul = operand.getDefiningOp<fusion::MatmulOp>(); matmul && isExpanding(matmul) && operand.hasOneUse())
        insertClone(matmul, builder.clone(*matmul, mapping));
    auto copy = cast<fusion::ClusterOp>(builder.clone(*source, mapping));
    source->replaceUsesWithIf(copy, [&](OpOperand& use) { return group.contains(use.getOwner()); });
    insertClone(source, copy);
  }

  void insertClone(Operation* original, Operation* copy) {
    originals.push_back({copy, original});
    group.insert(copy);
  }

  /// Computing again pays up to so many operations per byte that is then neither written nor read again.
  int64_t flopsPerByte;
  SetVector<Operation*> group;
  SmallVector<std::pair<Operation*, Operation*>> originals;
};

}  // namespace

FoundGroup mlir::sgd::findTileGroup(fusion::ClusterOp cluster, int64_t flopsPerByte) {
  return Finder(cluster, flopsPerByte).run();
}

void FoundGroup::undo() {
  for (auto [copy, original] : llvm::reverse(originals)) {
    copy->replaceAllUsesWith(original);
    copy->erase();
  }
}

bool mlir::sgd::isConvex(ArrayRef<Operation*> group) {
  SmallPtrSet<Operation*, 16> members(group.begin(), group.end()), dependent;
  bool orderedDepends = false;  // messages and host calls keep their order
  for (Operation* op = group.front(); op != group.back(); op = op->getNextNode()) {
    bool keepsOrder = spmd::keepsOrder(op);
    bool depends = (keepsOrder && orderedDepends) || llvm::any_of(op->getOperands(), [&](Value operand) {
                     Operation* producer = operand.getDefiningOp();
                     return dependent.contains(producer) || (members.contains(producer) && !members.contains(op));
                   });
    if (!depends) continue;
    if (members.contains(op)) return false;
    dependent.insert(op);
    orderedDepends |= keepsOrder;
  }
  return llvm::none_of(group.back()->getOperands(),
                       [&](Value operand) { return dependent.contains(operand.getDefiningOp()); });
}
