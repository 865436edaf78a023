// Loads of an operand are compared with the stores of a result.
#include "targets/kernels/in_place.h"

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
