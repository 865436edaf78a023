// Tiles are dealt to threads in contiguous runs, and taken over where a thread is late; which
// thread computes a tile does not change its bits.
#include "targets/cpu/device/matmul.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "targets/cpu/device/matmul_loops.h"
#include "targets/cpu/device/matmul_problem.h"

namespace sgd::cpu {
namespace {

// For threads to even out what the system takes from one of them.
constexpr uint64_t kChunksPerThread = 8;

class MatmulNode final : public device::Node {
 public:
  MatmulNode(ThreadPool& pool, const MatmulProblem& problem, const TileGrid& grid, TileFunction loops,
             std::unique_ptr<LibraryMatmul> library)
      : pool_(pool), problem_(problem), grid_(grid), loops_(loops), library_(std::move(library)) {
    active_ = static_cast<uint32_t>(std::clamp<uint64_t>(grid_.size(), 1, pool.size()));
    chunks_ = static_cast<uint32_t>(std::min(grid_.size(), active_ == 1 ? uint64_t{1} : active_ * kChunksPerThread));
    statuses_.resize(active_);
  }

  absl::Status Execute() override {
    if (grid_.size() == 0) return absl::OkStatus();
    pool_.Run(active_, chunks_, [&](uint32_t chunk, uint32_t thread) { RunPart(chunk, thread); });
    for (const absl::Status& status : statuses_) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  void RunPart(uint32_t chunk, uint32_t thread) {
    const IndexRange part = PartOf(grid_.size(), chunks_, chunk);
    for (uint64_t index = part.begin; index < part.end; ++index) {
      const Tile tile = grid_.At(problem_, index);
      if (library_ == nullptr) {
        loops_(problem_, tile);
      } else if (absl::Status status = library_->RunTile(problem_, tile, thread); !status.ok()) {
        statuses_[thread] = std::move(status);
        return;
      }
    }
  }

  ThreadPool& pool_;
  MatmulProblem problem_;
  TileGrid grid_;
  TileFunction loops_;
  std::unique_ptr<LibraryMatmul> library_;  // null: loops_
  uint32_t active_ = 1;
  uint32_t chunks_ = 1;
  std::vector<absl::Status> statuses_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<device::Node>> MakeMatmul(ThreadPool& pool, ThreadScratch& scratch,
                                                         const artifact::Matmul& matmul,
                                                         const device::MemoryMap& memory) {
  const TileFunction loops = LoopsFor(matmul.element());
  if (loops == nullptr) {
    return absl::UnimplementedError(absl::StrCat("matmul on ", artifact::ElementName(matmul.element()),
                                                 " elements; convert them to an integer type first"));
  }
  const MatmulProblem problem = ProblemOf(matmul, memory);
  const TileGrid grid(problem);
  absl::StatusOr<std::unique_ptr<LibraryMatmul>> library = LibraryMatmul::Create(problem, grid, scratch);
  if (!library.ok()) return library.status();
  return std::make_unique<MatmulNode>(pool, problem, grid, loops, *std::move(library));
}

}  // namespace sgd::cpu
