// What a cluster needs to be launched, and when two clusters are one kernel.
#include "llvm/Support/raw_ostream.h"
#include "targets/cpu/codegen/codegen.h"
#include "targets/cpu/codegen/kernel_emitter.h"
#include "targets/cpu/codegen/kernel_plan.h"
#include "targets/cpu/codegen/row_kernels.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

static int64_t byteSize(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// Every load of the operand reads the element that the same point stores.
static bool readsOnlyWhatItStores(const KernelPlan& plan, const Store& store, unsigned operand) {
  return llvm::all_of(plan.nodes, [&](const Node& node) {
    return node.kind != NodeKind::Load || node.buffer != operand || node.index == store.index;
  });
}

static void findInPlaceCandidates(const KernelPlan& plan, KernelInterface& kernel) {
  ClusterOp cluster = plan.cluster;
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
        kernel.inPlaceCandidates.push_back({store.result, operand});
}

static int64_t operationsPerLaunch(const KernelPlan& plan) {
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

/// What is read and written. Of what only dynamic slices see, or an update changes, that is their size.
static int64_t touchedBytes(ClusterOp cluster) {
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

FailureOr<KernelInterface> mlir::sgd::cpu::describeKernel(ClusterOp cluster) {
  if (Operation* rowOp = getRowOp(cluster)) return describeRowKernel(cluster, rowOp);
  FailureOr<KernelPlan> plan = planKernel(cluster);
  if (failed(plan)) return failure();
  KernelInterface kernel;
  kernel.range = parallelRange(*plan);
  kernel.flops = operationsPerLaunch(*plan);
  kernel.bytes = touchedBytes(cluster);
  kernel.coordinates = plan->coordinates;
  // A part should move at least 32 KiB or compute as long.
  int64_t work = std::max<int64_t>((kernel.bytes + kernel.flops) / std::max<int64_t>(kernel.range, 1), 1);
  kernel.grain = std::clamp<int64_t>(32768 / work, 1, std::max<int64_t>(kernel.range, 1));
  findInPlaceCandidates(*plan, kernel);
  return kernel;
}

/// Adds what `block` computes, regions of its ops included.
static void addToKey(Block& block, llvm::DenseMap<Value, unsigned>& numbers, llvm::raw_ostream& stream) {
  for (BlockArgument argument : block.getArguments()) {
    numbers[argument] = numbers.size();
    stream << argument.getType() << ';';
  }
  for (Operation& op : block) {
    stream << op.getName() << '(';
    for (Value operand : op.getOperands()) stream << numbers[operand] << ',';
    stream << ')' << op.getAttrDictionary() << op.getPropertiesAsAttribute();
    for (Region& region : op.getRegions())
      for (Block& inner : region) {
        stream << '{';
        addToKey(inner, numbers, stream);
        stream << '}';
      }
    for (Value result : op.getResults()) {
      numbers[result] = numbers.size();
      stream << result.getType() << ';';
    }
  }
}

std::string mlir::sgd::cpu::structuralKey(ClusterOp cluster, ArrayRef<InPlacePair> inPlace) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  llvm::DenseMap<Value, unsigned> numbers;
  addToKey(cluster.getBody().front(), numbers, stream);
  for (auto [result, operand] : inPlace) stream << result << '<' << operand << ';';
  return key;
}
