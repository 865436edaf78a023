// f32 tiles through oneDNN: one primitive per extent of tile, made once, called by one thread at a
// time per tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "targets/cpu/device/matmul_problem.h"

namespace sgd::cpu {

// Scratch memory of the threads, shared by all matmuls of a device since one runs at a time. Grows
// while instructions are prepared.
class ThreadScratch {
 public:
  explicit ThreadScratch(uint32_t threads) : buffers_(threads) {}
  uint32_t threads() const { return static_cast<uint32_t>(buffers_.size()); }
  // ResourceExhausted when there is no more memory.
  absl::Status Reserve(size_t bytes);
  // At least the largest reserved size, aligned to 64 bytes.
  std::byte* For(uint32_t thread) const { return buffers_[thread].get(); }

 private:
  struct Free {
    void operator()(std::byte* buffer) const;
  };
  size_t bytes_ = 0;
  std::vector<std::unique_ptr<std::byte, Free>> buffers_;
};

// Tiles of one problem.
class LibraryMatmul {
 public:
  // Null when the library has no fast implementation for these strides; the caller then uses its
  // own loops. `scratch` must outlive it.
  static absl::StatusOr<std::unique_ptr<LibraryMatmul>> Create(const MatmulProblem& problem, const TileGrid& grid,
                                                               ThreadScratch& scratch);
  virtual ~LibraryMatmul() = default;

  // Product and epilogue of one tile. Different threads may call it at once with different thread
  // indices.
  virtual absl::Status RunTile(const MatmulProblem& problem, const Tile& tile, uint32_t thread) = 0;

  // Whether the library generates part of its code at the first product only.
  virtual bool is_lazy() const = 0;
};

// Version of the library, which decides the bits together with the CPU's features.
std::string MatmulLibraryVersion();

// Makes the library generate the code that lazy products need, which takes some 20 ms of processor
// time: processes forked afterwards have it. Starts no thread.
void GenerateLazyCode();

// Caps the library's instruction set at AVX2, for artifacts whose kernels use no more.
// FailedPrecondition when a matmul of this process has already used more.
absl::Status CapMatmulLibraryAtAvx2();

}  // namespace sgd::cpu
