// Counts over the nodes of a plan.
#include "targets/kernels/kernel_work.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_layout.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

int64_t mlir::sgd::kernels::byteSize(Value value) { return getByteSize(value.getType()); }

/// Every load of the operand reads the element that the same point stores.
static bool readsOnlyWhatItStores(const KernelPlan& plan, const Store& store, unsigned operand) {
  return llvm::all_of(plan.nodes, [&](const Node& node) {
    return node.kind != NodeKind::Load || node.buffer != operand || node.index == store.index;
  });
}

SmallVector<InPlacePair> mlir::sgd::kernels::findInPlaceCandidates(const KernelPlan& plan) {
  fusion::ClusterOp cluster = plan.cluster;
  SmallVector<InPlacePair> candidates;
  SmallVector<Store> stores(plan.stores);
  if (plan.scatter) stores.push_back({0, plan.scatter->initValue, plan.scatter->initIndex, false});
  auto isUpdated = [&](unsigned operand) {
    return llvm::any_of(llvm::seq(cluster.getNumResults()), [&](unsigned result) {
      return cluster.getUpdate(result) && cluster.getUpdatedInput(result) == operand;
    });
  };
  llvm::erase_if(stores, [&](const Store& store) { return cluster.getUpdate(store.result); });
  for (const Store& store : stores)
    for (unsigned operand = 0; operand < cluster->getNumOperands(); ++operand)
      if (!isUpdated(operand) && byteSize(cluster->getOperand(operand)) == byteSize(cluster->getResult(store.result)) &&
          readsOnlyWhatItStores(plan, store, operand) &&
          cast<RankedTensorType>(cluster->getOperand(operand).getType()).getNumElements() ==
              cast<RankedTensorType>(cluster->getResult(store.result).getType()).getNumElements())
        candidates.push_back({store.result, operand});
  return candidates;
}

int64_t mlir::sgd::kernels::operationsPerLaunch(const KernelPlan& plan) {
  int64_t total = 0;
  for (const Node& node : plan.nodes) {
    if (node.kind != NodeKind::Elementwise && node.kind != NodeKind::Reduce) continue;
    uint64_t vars = node.kind == NodeKind::Reduce ? node.vars | plan.mask(plan.rowVars) : node.vars;
    int64_t points = 1;
    for (unsigned var = 0; var < plan.space.size() && var < 64; ++var)
      if (vars >> var & 1) points *= plan.space.extent(var);
    bool transcendental = node.kind == NodeKind::Elementwise && isa<math::MathDialect>(node.op->getDialect());
    total += points * (transcendental ? 10 : 1);
  }
  return total;
}

int64_t mlir::sgd::kernels::touchedBytes(fusion::ClusterOp cluster) {
  int64_t bytes = 0;
  for (BlockArgument argument : cluster.getBody().getArguments()) {
    int64_t sliced = 0;
    bool isSliced = llvm::all_of(argument.getUsers(), [&](Operation* user) {
      if (isa<DynamicSliceOp>(user)) sliced += byteSize(user->getResult(0));
      return isa<DynamicSliceOp, DynamicUpdateSliceOp>(user) && user->getOperand(0) == argument;
    });
    bool isUpdated = !argument.use_empty() && isa<DynamicUpdateSliceOp>(*argument.user_begin());
    bytes +=
        isSliced && (!isUpdated || argument.hasOneUse()) ? std::min(sliced, byteSize(argument)) : byteSize(argument);
  }
  for (unsigned result = 0; result < cluster.getNumResults(); ++result) {
    DynamicUpdateSliceOp update = cluster.getUpdate(result);
    bytes += byteSize(update ? update.getUpdate() : Value(cluster.getResult(result)));
  }
  return bytes;
}
