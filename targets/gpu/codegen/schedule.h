// How the points of a planned kernel are dealt out to blocks and threads. Follows from the plan alone. No LLVM.
#ifndef SGD_TARGETS_GPU_CODEGEN_SCHEDULE_H
#define SGD_TARGETS_GPU_CODEGEN_SCHEDULE_H

#include "targets/kernels/kernel_plan.h"

namespace mlir::sgd::gpu {

using namespace kernels;

inline constexpr unsigned kWarp = 32;

struct Schedule {
  enum class Kind {
    Points,   ///< nothing is reduced: a thread computes `lanes` neighbouring points
    Rows,     ///< `slices` neighbouring threads reduce a row together; a block has several rows when these are short
    Columns,  ///< neighbouring threads have neighbouring parallel points, and `slices` of them, far apart, share one
    Tiles,    ///< as Points, but a block computes a square tile, whose transposed loads go through shared memory
    Scatter,  ///< a thread applies, in order, all updates that fall into its part of one parallel point
    ScatterTogether,  ///< as Scatter, but the threads of a block have the same part and look for its updates together
  };

  Kind kind = Kind::Points;
  unsigned lanes = 1;      ///< neighbouring points of the lane variable that one access may cover
  unsigned threads = 256;  ///< of a block
  unsigned slices = 1;     ///< threads that share a parallel point
  unsigned held = 0;       ///< Rows: chunks of `lanes` points that a thread keeps in registers; 0: rows are walked anew
  int64_t parts = 1;       ///< of scatters: parts of the first variable that updates move along
  int64_t items = 1;       ///< what is dealt out: chunks of points, parallel points, or those times parts
  int64_t blocks = 1;

  unsigned itemsPerBlock() const { return threads / slices; }
};

/// A side of a square tile, in points.
inline constexpr int64_t kTile = 32;
/// Rows of a tile that the threads of a block hold at once.
inline constexpr int64_t kTileRows = 8;

Schedule makeSchedule(const KernelPlan& plan);

/// As reports call it.
StringRef getName(Schedule::Kind kind);

/// Whether load or store `index` of the plan is `lanes` neighbouring elements, aligned to them, at any chunk of `lanes`
/// points of the lane variable.
bool isVector(const KernelPlan& plan, const IndexExpr& index, unsigned lanes);

}  // namespace mlir::sgd::gpu

#endif
