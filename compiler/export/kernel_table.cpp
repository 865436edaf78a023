// Kernels as their first launches have them.
#include "compiler/export/kernel_table.h"

#include "dialects/fusion/fusion_dialect.h"
#include "compiler/locations.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/cost/cost_model.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

/// Names of the cluster's ops, without those of the dialects that they come from: "exp, divf, reduce add".
static std::string getOps(fusion::ClusterOp cluster) {
  SmallVector<std::string> names;
  for (Operation& op : cluster.getBody().front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) continue;
    std::string name = op.getName().stripDialect().str();
    if (auto reduce = dyn_cast<ReduceOp>(op)) name += " " + stringifyReduceKind(reduce.getKind()).str();
    if (!llvm::is_contained(names, name)) names.push_back(name);
  }
  return llvm::join(names, ", ");
}

/// A combined kernel does what its launches do.
static void describeCombined(const artifact::LaunchGroupT& group, artifact::ArtifactT& artifact) {
  for (const auto& combined : group.combined) {
    artifact::KernelT& kernel = *artifact.kernels[combined->kernel];
    if (!kernel.ops.empty()) continue;
    llvm::SetVector<uint32_t> parts;
    for (uint32_t launch : combined->launches) {
      uint32_t number = group.launches[launch]->kernel;
      const artifact::KernelT& part = *artifact.kernels[number];
      parts.insert(number);
      kernel.flops += part.flops;
      kernel.bytes += part.bytes;
    }
    kernel.loc = artifact.kernels[parts.front()]->loc;
    kernel.ops =
        llvm::join(llvm::map_range(parts, [&](uint32_t part) { return artifact.kernels[part]->symbol; }), ", ");
  }
}

/// A buffer holds a whole tensor, and indices that data gives are limited to it.
static uint64_t getLeastBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return static_cast<uint64_t>(type.getNumElements()) * getElementBytes(type.getElementType());
}

LogicalResult mlir::sgd::declareKernels(ModuleOp plan, const KernelModel& model, artifact::ArtifactT& artifact) {
  for (auto [kernel, target] : llvm::zip_equal(plan.getOps<plan::KernelOp>(), artifact.kernels)) {
    fusion::ClusterOp cluster = kernel.getCluster();
    FailureOr<KernelDescription> description = model.describe(cluster);
    if (failed(description)) return failure();
    for (unsigned operand : kernel.getInputPositions())
      target->least_bytes.push_back(getLeastBytes(cluster->getOperand(operand)));
    for (Value result : cluster->getResults()) target->least_bytes.push_back(getLeastBytes(result));
    target->outputs = cluster->getNumResults();
    target->coordinates = description->coordinates.size();
    target->range = description->range;
  }
  return success();
}

void mlir::sgd::describeKernels(ModuleOp plan, const Topology& topology, artifact::ArtifactT& artifact) {
  llvm::StringMap<artifact::KernelT*> kernels;
  for (auto& kernel : artifact.kernels) kernels[kernel->symbol] = kernel.get();
  for (auto kernel : plan.getOps<plan::KernelOp>()) kernels[kernel.getSymName()]->ops = getOps(kernel.getCluster());
  llvm::DenseSet<artifact::KernelT*> seen;
  plan.walk([&](plan::LaunchOp launch) {
    artifact::KernelT* kernel = kernels.lookup(launch.getKernel());
    if (!seen.insert(kernel).second) return;
    kernel->loc = getUserLocation(launch.getLoc());
    kernel->flops = launch.getFlops();
    kernel->bytes = launch.getTouchedBytes();
  });
  for (const auto& program : artifact.programs)
    for (const auto& instruction : program->instructions)
      if (const auto* group = instruction->op.AsLaunchGroup()) describeCombined(*group, artifact);
  CostModel cost(topology, {});
  for (auto& kernel : artifact.kernels) kernel->seconds = cost.getOpSeconds(kernel->flops, kernel->bytes);
}
