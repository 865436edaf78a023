// Horizontal fusion of launches, in their order.
#include "targets/gpu/codegen/combine_launches.h"

#include <optional>

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd::gpu;

namespace {

/// As describe.cpp counts them, with room for what may be added.
constexpr unsigned kMostParameters = 500;
/// Kernels in one: each is code that the driver compiles once more.
constexpr unsigned kMostKernels = 8;
/// Several blocks for every multiprocessor of the largest GPUs.
constexpr int64_t kFullGpu = 1024;
constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;

struct Set {
  unsigned threads;
  std::optional<unsigned> only;  // the kernel of launches that fill a GPU
  llvm::SmallVector<unsigned> launches, kernels;
  unsigned parameters = 0;
  int64_t blocks = 0;

  bool takes(const LaunchShape& launch, std::optional<unsigned> wanted) const {
    bool isKnown = llvm::is_contained(kernels, launch.kernel);
    return threads == launch.threads && only == wanted && parameters + launch.parameters <= kMostParameters &&
           blocks + launch.blocks <= kMostBlocks && (isKnown || kernels.size() < kMostKernels);
  }
};

}  // namespace

llvm::SmallVector<llvm::SmallVector<unsigned>> mlir::sgd::gpu::combineLaunches(llvm::ArrayRef<LaunchShape> launches) {
  llvm::SmallVector<Set> sets;
  for (auto [position, launch] : llvm::enumerate(launches)) {
    if (launch.blocks == 0 || launch.threads == 0) continue;
    std::optional<unsigned> only;
    if (launch.blocks >= kFullGpu) only = launch.kernel;
    auto* set = llvm::find_if(sets, [&, &launch = launch](const Set& set) { return set.takes(launch, only); });
    if (set == sets.end()) set = &sets.emplace_back(Set{launch.threads, only, {}, {}, 0, 0});
    set->launches.push_back(position);
    if (!llvm::is_contained(set->kernels, launch.kernel)) set->kernels.push_back(launch.kernel);
    set->parameters += launch.parameters;
    set->blocks += launch.blocks;
  }
  llvm::SmallVector<llvm::SmallVector<unsigned>> combined;
  for (Set& set : sets)
    if (set.launches.size() > 1) combined.push_back(std::move(set.launches));
  return combined;
}
