// The matrix of a convolution's windows, which is never built: element (row, k) is the lhs at the place where window
// `row` reads for step k of the sum, or zero where that is padding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "targets/cpu/device/matmul/packed_blocks.h"
#include "targets/cpu/device/matmul/packed_kernels.h"
#include "targets/cpu/device/threads/thread_pool.h"

namespace sgd::cpu {

inline constexpr size_t kMaxSpatialDims = 6;

// A dimension of the rows, or of the steps of the sum. Strides count elements.
struct WindowIndex {
  uint64_t size = 1;
  int64_t lhs = 0;    // stride in the lhs
  int64_t other = 0;  // stride in the result (rows) or in the rhs (steps)
  int spatial = -1;   // the spatial dimension in which it moves,
  int64_t step = 0;   // and how far
};

// Rows, or steps of the sum, in order: those of a run follow each other and have one stride, runs are numbered
// row-major over `outer`.
struct WindowIndices {
  std::vector<WindowIndex> outer;
  // A run: `run.size` elements. It moves in its spatial dimension after every `granule` elements.
  WindowIndex run;
  uint64_t granule = 1;

  uint64_t RunCount() const;
  uint64_t Count() const { return RunCount() * run.size; }
  // The stride of all indices together in the operand that `other` is about; 0 when there is none.
  int64_t UniformOther() const;
};

// Where a run begins.
struct WindowPlace {
  int64_t lhs = 0, other = 0;
  std::array<int64_t, kMaxSpatialDims> position{};
};

// Walks over the runs.
class WindowCursor {
 public:
  WindowCursor(const WindowIndices& indices, uint64_t run);
  void Next();
  const WindowPlace& place() const { return place_; }

 private:
  const std::vector<WindowIndex>& outer_;
  std::array<uint64_t, kMaxSpatialDims + 1> index_{};
  WindowPlace place_;
};

struct WindowMatrix {
  WindowIndices rows, steps;
  size_t spatial_dims = 0;
  std::array<uint64_t, kMaxSpatialDims> inputs{};  // elements of the lhs along each
  WindowPlace origin;                              // of row 0 at step 0
  // Whether elements follow each other in the lhs along runs of rows rather than of steps.
  bool is_by_rows = false;

  uint64_t RowCount() const { return rows.Count(); }
  uint64_t Depth() const { return steps.Count(); }
};

// Writes elements (rows, steps) to target[row - rows.begin][step - steps.begin], `stride` elements from row to row, as
// sums. `lhs` is the address of the lhs's first element. For matrices that are not by rows.
void PackWindowLines(const PackedKernels& kernels, const WindowMatrix& matrix, const std::byte* lhs,
                     uint64_t element_size, IndexRange rows, IndexRange steps, std::byte* target, uint64_t stride);

// Packs rows [begin, end) of run `run` in `panels` panels, as PackRows does. For matrices that are by rows.
void PackWindowPanels(const PackedKernels& kernels, const WindowMatrix& matrix, const std::byte* lhs,
                      uint64_t element_size, uint64_t run, IndexRange rows, uint64_t panels, IndexRange steps,
                      std::byte* target);

// Packs columns of the other operand, whose element (step, column) is at rhs + the step's `other` + column * across,
// as PackColumns does.
struct StepColumns {
  const std::byte* rhs;
  int64_t across;
  uint64_t element_size;
  uint64_t columns;
};
void PackStepColumns(const PackedKernels& kernels, const WindowIndices& indices, const StepColumns& source,
                     IndexRange steps, IndexRange panels, std::byte* target);

}  // namespace sgd::cpu
