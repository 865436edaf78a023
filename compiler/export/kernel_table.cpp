// Kernels as their first launches have them.
#include "compiler/export/kernel_table.h"

#include "compiler/export/export_types.h"
#include "dialects/sgd/source_line.h"
#include "dialects/cost/cost_op.h"
#include "dialects/fusion/fusion_dialect.h"
#include "llvm/ADT/BitVector.h"
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

/// A combined kernel does what its launches do; `works` are those of the artifact's kernels.
static void describeCombined(const artifact::LaunchGroupT& group, artifact::ArtifactT& artifact,
                             std::vector<Work>& works) {
  for (const auto& combined : group.combined) {
    artifact::KernelT& kernel = *artifact.kernels[combined->kernel];
    if (!kernel.ops.empty()) continue;
    llvm::SetVector<uint32_t> parts;
    for (uint32_t launch : combined->launches) {
      uint32_t number = group.launches[launch]->kernel;
      parts.insert(number);
      works[combined->kernel] += works[number];
    }
    kernel.loc = artifact.kernels[parts.front()]->loc;
    kernel.ops =
        llvm::join(llvm::map_range(parts, [&](uint32_t part) { return artifact.kernels[part]->symbol; }), ", ");
  }
}

/// A buffer holds a whole tensor, and indices that data gives are limited to it.
static void addBuffer(Value tensor, artifact::KernelT& kernel) {
  auto type = cast<RankedTensorType>(tensor.getType());
  kernel.least_bytes.push_back(static_cast<uint64_t>(type.getNumElements()) * getElementBytes(type.getElementType()));
  std::optional<artifact::ElementType> element = getElementType(type.getElementType(), false);
  // Narrow integers are kept in whole bytes.
  kernel.elements.push_back(element.value_or(artifact::ElementType::I8));
}

LogicalResult mlir::sgd::declareKernels(ModuleOp plan, const KernelModel& model, artifact::ArtifactT& artifact) {
  for (auto [kernel, target] : llvm::zip_equal(plan.getOps<plan::KernelOp>(), artifact.kernels)) {
    fusion::ClusterOp cluster = kernel.getCluster();
    FailureOr<KernelDescription> description = model.describe(cluster);
    if (failed(description)) return failure();
    for (unsigned operand : kernel.getInputPositions()) addBuffer(cluster->getOperand(operand), *target);
    for (Value result : cluster->getResults()) addBuffer(result, *target);
    target->outputs = cluster->getNumResults();
    target->coordinates = description->coordinates.size();
    target->range = description->range;
  }
  return success();
}

void mlir::sgd::describeKernels(ModuleOp plan, const Topology& topology, artifact::ArtifactT& artifact) {
  llvm::StringMap<size_t> numbers;
  for (auto [number, kernel] : llvm::enumerate(artifact.kernels)) numbers[kernel->symbol] = number;
  for (auto kernel : plan.getOps<plan::KernelOp>())
    artifact.kernels[numbers.lookup(kernel.getSymName())]->ops = getOps(kernel.getCluster());
  std::vector<Work> works(artifact.kernels.size());
  llvm::BitVector seen(works.size());
  plan.walk([&](plan::LaunchOp launch) {
    size_t number = numbers.lookup(launch.getKernel());
    if (seen.test(number)) return;
    seen.set(number);
    artifact.kernels[number]->loc = getSourceLine(launch.getLoc());
    works[number] = getWork(launch);
  });
  for (const auto& program : artifact.programs)
    for (const auto& instruction : program->instructions)
      if (const auto* group = instruction->op.AsLaunchGroup()) describeCombined(*group, artifact, works);
  CostModel cost(topology, {});
  for (auto [kernel, work] : llvm::zip_equal(artifact.kernels, works)) {
    kernel->flops = static_cast<uint64_t>(work.getFlops());
    kernel->bytes = static_cast<uint64_t>(work.getBytes());
    kernel->seconds = cost.getSeconds(work);
  }
}
