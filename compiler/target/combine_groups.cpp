// Goes through the programs' instructions.
#include "compiler/target/combine_groups.h"

#include <map>

#include "targets/gpu/codegen/combine_launches.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

namespace {

class GroupCombiner {
 public:
  GroupCombiner(artifact::ArtifactT& artifact, ArrayRef<kernels::KernelRequest> requests) : artifact(artifact) {
    for (const kernels::KernelRequest& request : requests) threads.push_back(gpu::getBlockThreads(request.body));
    combinations.onlyCombined.assign(requests.size(), true);
  }

  gpu::Combinations run() {
    for (auto& program : artifact.programs)
      for (auto& instruction : program->instructions) {
        if (auto* launch = instruction->op.AsLaunch()) combinations.onlyCombined[launch->kernel] = false;
        if (auto* group = instruction->op.AsLaunchGroup()) combine(*group);
      }
    for (auto [kernel, only] : llvm::zip(artifact.kernels, combinations.onlyCombined)) kernel->only_combined = only;
    for (const gpu::CombinedRequest& combined : combinations.combined) {
      artifact.kernels.push_back(std::make_unique<artifact::KernelT>());
      artifact.kernels.back()->symbol = combined.symbol;
      for (const gpu::CombinedPart& part : combined.parts) artifact.kernels.back()->parts.push_back(part.request);
    }
    return std::move(combinations);
  }

 private:
  void combine(artifact::LaunchGroupT& group) {
    SmallVector<gpu::LaunchShape> shapes;
    for (auto& launch : group.launches)
      shapes.push_back({launch->kernel, threads[launch->kernel],
                        static_cast<unsigned>(launch->buffers.size() + launch->coordinates.size()),
                        static_cast<int64_t>(launch->range)});
    SmallVector<bool> isCombined(shapes.size(), false);
    for (const SmallVector<unsigned>& launches : gpu::combineLaunches(shapes)) {
      auto combined = std::make_unique<artifact::CombinedLaunchesT>();
      SmallVector<gpu::CombinedPart> parts;
      for (unsigned launch : launches) {
        combined->launches.push_back(launch);
        parts.push_back({shapes[launch].kernel, shapes[launch].blocks});
        isCombined[launch] = true;
      }
      combined->kernel = threads.size() + getKernel(std::move(parts));
      group.combined.push_back(std::move(combined));
    }
    for (auto [shape, is] : llvm::zip(shapes, isCombined))
      if (!is) combinations.onlyCombined[shape.kernel] = false;
  }

  /// The number among the combined kernels of the one with these parts.
  unsigned getKernel(SmallVector<gpu::CombinedPart> parts) {
    std::vector<std::pair<unsigned, int64_t>> key;
    for (const gpu::CombinedPart& part : parts) key.emplace_back(part.request, part.blocks);
    auto [known, isNew] = numbers.try_emplace(std::move(key), combinations.combined.size());
    if (isNew) combinations.combined.push_back({"group_" + std::to_string(known->second), std::move(parts)});
    return known->second;
  }

  artifact::ArtifactT& artifact;
  SmallVector<unsigned> threads;  // by kernel
  std::map<std::vector<std::pair<unsigned, int64_t>>, unsigned> numbers;
  gpu::Combinations combinations;
};

}  // namespace

gpu::Combinations mlir::sgd::combineGroups(artifact::ArtifactT& artifact, ArrayRef<kernels::KernelRequest> requests) {
  return GroupCombiner(artifact, requests).run();
}
