// Addresses are computed once per tile, for all slices of all steps; a step then only calls.
#include "targets/cpu/device/tiled.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/operands.h"
#include "targets/cpu/device/matmul/packed_matmul.h"

namespace sgd::cpu {
namespace {

// The address of a step's slice at the first tile.
struct Place {
  std::byte* base = nullptr;  // null: scratch memory, at `offset`
  uint64_t offset = 0;
  uint32_t operand = 0;  // whose strides move it
};

// A batch dimension of a matmul; strides in bytes.
struct BatchDim {
  uint64_t count;
  int64_t a, b, c;
};

// A kernel over its whole range, or (function == nullptr) a matmul.
struct Step {
  KernelFunction function = nullptr;
  int64_t range = 0;
  size_t first_place = 0;
  const PackedKernels* kernels = nullptr;
  StridedMatmul matmul;  // without addresses
  std::vector<BatchDim> batch;
};

class TiledThunk final : public device::Thunk {
 public:
  TiledThunk(ThreadPool& pool, TileScratch scratch, const artifact::Tiled& tiled)
      : pool_(pool), scratch_(scratch), operands_(artifact::Size(tiled.operands())) {
    for (uint32_t i = 0; i < artifact::Size(tiled.loops()); ++i) loops_.push_back(tiled.loops()->Get(i));
    for (uint32_t i = 0; i < operands_; ++i) {
      const artifact::TileOperand& operand = *tiled.operands()->Get(i);
      for (uint32_t loop = 0; loop < loops_.size(); ++loop) {
        strides_.push_back(static_cast<int64_t>(operand.strides()->Get(loop)));
      }
    }
    for (uint64_t count : loops_) tiles_ *= static_cast<uint32_t>(count);
    active_ = std::min(tiles_, pool.size());
  }

  absl::Status AddSteps(const artifact::Tiled& tiled, const CpuKernelLibrary& kernels,
                        const device::MemoryMap& memory) {
    for (uint32_t i = 0; i < artifact::Size(tiled.steps()); ++i) {
      const artifact::TileStep& step = *tiled.steps()->Get(i);
      if (const artifact::Launch* launch = step.op_as_Launch()) {
        AddLaunch(step, *launch, kernels, memory);
      } else if (absl::Status status = AddMatmul(step, *step.op_as_Matmul(), memory); !status.ok()) {
        return status;
      }
    }
    threads_.resize(active_);
    for (Thread& thread : threads_) {
      thread.shifts.resize(operands_);
      thread.pointers.resize(places_.size());
    }
    return scratch_.tiles.Reserve(tiled.scratch_bytes());
  }

  absl::Status Execute() override {
    pool_.Run(active_, tiles_, [&](uint32_t tile, uint32_t thread) {
      RunTile(tile, thread);
      pool_.CountPart(thread);
    });
    return absl::OkStatus();
  }

 private:
  // The memory that a thread writes while it runs tiles.
  struct alignas(64) Thread {
    std::vector<int64_t> shifts;  // bytes, of each operand
    std::vector<void*> pointers;  // of each place
  };

  void AddPlaces(const artifact::TileStep& step, const device::MemoryMap& memory) {
    uint32_t number = 0;
    artifact::ForEachOperand(step, [&](const artifact::Operand& part) {
      if (part.slice == nullptr) return;
      const int32_t operand = step.operands()->Get(number++);
      if (operand < 0) {
        places_.push_back({nullptr, part.slice->offset(), 0});
      } else {
        places_.push_back({memory.Address(*part.slice), 0, static_cast<uint32_t>(operand)});
      }
    });
  }

  void AddLaunch(const artifact::TileStep& source, const artifact::Launch& launch, const CpuKernelLibrary& kernels,
                 const device::MemoryMap& memory) {
    Step step;
    step.function = kernels.function(launch.kernel());
    step.range = static_cast<int64_t>(launch.range());
    step.first_place = places_.size();
    AddPlaces(source, memory);
    steps_.push_back(std::move(step));
  }

  absl::Status AddMatmul(const artifact::TileStep& source, const artifact::Matmul& matmul,
                         const device::MemoryMap& memory) {
    Step step;
    step.kernels = PackedKernelsFor(BestInstructionSet(), matmul.element());
    if (step.kernels == nullptr) {
      return absl::UnimplementedError(absl::StrCat("matmul on ", artifact::ElementName(matmul.element()),
                                                   " elements; convert them to an integer type first"));
    }
    StridedMatmul& strided = step.matmul;
    strided.element = matmul.element();
    strided.epilogue = artifact::EpilogueOf(matmul.epilogue());
    strided.m = matmul.m(), strided.n = matmul.n(), strided.k = matmul.k();
    strided.a_m = matmul.a_m(), strided.a_k = matmul.a_k();
    strided.b_k = matmul.b_k(), strided.b_n = matmul.b_n();
    strided.c_m = matmul.c_m(), strided.c_n = matmul.c_n();
    const int64_t size = static_cast<int64_t>(artifact::ElementSize(matmul.element()));
    for (uint32_t i = 0; i < artifact::Size(matmul.batch_dims()); ++i) {
      step.batch.push_back({matmul.batch_dims()->Get(i), matmul.a_batch()->Get(i) * size,
                            matmul.b_batch()->Get(i) * size, matmul.c_batch()->Get(i) * size});
    }
    step.first_place = places_.size();
    AddPlaces(source, memory);
    absl::Status status = scratch_.matmuls.Reserve(PackedScratchBytes(*step.kernels, strided.m, strided.n, strided.k));
    steps_.push_back(std::move(step));
    return status;
  }

  void RunTile(uint32_t tile, uint32_t thread) {
    Thread& own = threads_[thread];
    std::fill(own.shifts.begin(), own.shifts.end(), 0);
    for (size_t loop = loops_.size(); loop-- > 0;) {
      const int64_t index = tile % static_cast<uint32_t>(loops_[loop]);
      tile /= static_cast<uint32_t>(loops_[loop]);
      for (size_t i = 0; i < operands_; ++i) own.shifts[i] += index * strides_[i * loops_.size() + loop];
    }
    std::byte* const scratch = scratch_.tiles.For(thread);
    for (size_t i = 0; i < places_.size(); ++i) {
      const Place& place = places_[i];
      own.pointers[i] = place.base == nullptr ? scratch + place.offset : place.base + own.shifts[place.operand];
    }
    for (const Step& step : steps_) {
      void* const* pointers = own.pointers.data() + step.first_place;
      if (step.function != nullptr) {
        step.function(pointers, nullptr, 0, step.range);
      } else {
        Multiply(step, pointers, scratch_.matmuls.For(thread));
      }
    }
  }

  static void Multiply(const Step& step, void* const* pointers, std::byte* scratch) {
    uint64_t count = 1;
    for (const BatchDim& dim : step.batch) count *= dim.count;
    StridedMatmul strided = step.matmul;
    for (uint64_t number = 0; number < count; ++number) {
      int64_t a = 0, b = 0, c = 0;
      uint64_t rest = number;
      for (size_t i = step.batch.size(); i-- > 0;) {
        const BatchDim& dim = step.batch[i];
        const int64_t index = static_cast<int64_t>(rest % dim.count);
        rest /= dim.count;
        a += index * dim.a, b += index * dim.b, c += index * dim.c;
      }
      strided.a = static_cast<const std::byte*>(pointers[0]) + a;
      strided.b = static_cast<const std::byte*>(pointers[1]) + b;
      strided.c = static_cast<std::byte*>(pointers[2]) + c;
      PackedMultiply(*step.kernels, strided, scratch);
    }
  }

  ThreadPool& pool_;
  TileScratch scratch_;
  std::vector<uint64_t> loops_;
  size_t operands_;
  std::vector<int64_t> strides_;  // bytes; operands x loops
  uint32_t tiles_ = 1;
  uint32_t active_ = 1;
  std::vector<Place> places_;
  std::vector<Step> steps_;
  std::vector<Thread> threads_;
};

}  // namespace

device::PreparedThunk MakeTiled(ThreadPool& pool, TileScratch scratch, const artifact::Tiled& tiled,
                                const CpuKernelLibrary& kernels, const device::MemoryMap& memory) {
  auto thunk = std::make_unique<TiledThunk>(pool, scratch, tiled);
  if (absl::Status status = thunk->AddSteps(tiled, kernels, memory); !status.ok()) return status;
  return thunk;
}

}  // namespace sgd::cpu
