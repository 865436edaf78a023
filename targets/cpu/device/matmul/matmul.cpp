// Tiles are dealt to threads in contiguous runs, and taken over where a thread is late; which
// thread computes a tile does not change its bits.
#include "targets/cpu/device/matmul/matmul.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "targets/cpu/device/matmul/matmul_problem.h"
#include "targets/cpu/device/matmul/packed_matmul.h"
#include "targets/cpu/device/matmul/shared_matmul.h"

namespace sgd::cpu {
namespace {

// More chunks than threads even out interruptions of single threads.
constexpr uint64_t kChunksPerThread = 8;

class MatmulThunk final : public device::Thunk {
 public:
  MatmulThunk(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels, const MatmulProblem& problem,
              const TileGrid& grid)
      : pool_(pool), scratch_(scratch), kernels_(kernels), problem_(problem), grid_(grid) {
    active_ = static_cast<uint32_t>(std::clamp<uint64_t>(grid_.size(), 1, pool.size()));
    chunks_ = static_cast<uint32_t>(std::min(grid_.size(), active_ == 1 ? uint64_t{1} : active_ * kChunksPerThread));
  }

  absl::Status Execute() override {
    if (grid_.size() == 0) return absl::OkStatus();
    pool_.Run(active_, chunks_, [&](uint32_t chunk, uint32_t thread) { RunPart(chunk, thread); });
    return absl::OkStatus();
  }

 private:
  void RunPart(uint32_t chunk, uint32_t thread) {
    std::byte* const scratch = scratch_.For(thread);
    const IndexRange part = PartOf(grid_.size(), chunks_, chunk);
    for (uint64_t index = part.begin; index < part.end; ++index) {
      PackedMultiply(kernels_, grid_.At(problem_, index), scratch);
      pool_.CountPart(thread);
    }
  }

  ThreadPool& pool_;
  ThreadScratch& scratch_;
  const PackedKernels& kernels_;
  const MatmulProblem problem_;
  const TileGrid grid_;
  uint32_t active_ = 1;
  uint32_t chunks_ = 1;
};

}  // namespace

device::PreparedThunk MakeMatmul(ThreadPool& pool, ThreadScratch& scratch, const artifact::Matmul& matmul,
                                 const device::MemoryMap& memory) {
  const PackedKernels* kernels = PackedKernelsFor(BestInstructionSet(), matmul.element());
  if (kernels == nullptr) {
    return absl::UnimplementedError(absl::StrCat("matmul on ", artifact::ElementName(matmul.element()),
                                                 " elements; convert them to an integer type first"));
  }
  const library::Epilogue epilogue = artifact::EpilogueOf(matmul.epilogue());
  if (epilogue.HasReduction())
    return absl::UnimplementedError(
        "matmul on a CPU: an operand's reduction is not computed beside it; it is a kernel's");
  if (epilogue.HasGelu())
    return absl::UnimplementedError("matmul on a CPU: gelu is not one of its epilogues; it is a kernel's");
  const MatmulProblem problem = ProblemOf(matmul, memory);
  const MatmulProblem joined = JoinColumnBlocks(problem);
  if (IsForSharedMatmul(*kernels, joined)) return MakeSharedMatmul(pool, scratch, *kernels, joined);
  if (IsForSharedMatmul(*kernels, problem)) return MakeSharedMatmul(pool, scratch, *kernels, problem);
  const TileGrid grid(problem);
  absl::Status status = scratch.Reserve(PackedScratchBytes(*kernels, grid.tile_m(), grid.tile_n(), problem.k));
  if (!status.ok()) return status;
  return std::make_unique<MatmulThunk>(pool, scratch, *kernels, problem, grid);
}

}  // namespace sgd::cpu
