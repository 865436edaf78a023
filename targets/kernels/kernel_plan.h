// The loops of a kernel and the value computed at each of their points, as a graph of scalar nodes. No LLVM;
// independent of the CPU.
//
// A kernel's domain is a product of parallel variables and row variables. For each point of the parallel variables the
// row variables are walked in phases: phase p computes the reductions over the row that need only reductions of earlier
// phases, the last one stores the results that have an element per row point. One variable is the lane variable: its
// points fill vectors.
#ifndef SGD_TARGETS_KERNELS_KERNEL_PLAN_H
#define SGD_TARGETS_KERNELS_KERNEL_PLAN_H

#include <string>
#include <vector>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/sgd_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "targets/kernels/index_expr.h"

namespace mlir::sgd::kernels {

inline constexpr unsigned kNone = ~0u;

enum class NodeKind {
  Load,         // element `index` of `buffer`; when `guard` is false nothing is read and the value is arbitrary
  Constant,     // `value`
  Index,        // the number `index`, an i64
  Coordinate,   // rank coordinate number `buffer`, an i32
  Elementwise,  // `op` on the operands
  Reduce,       // `op` (sgd.reduce) over all row variables of operand 0
  InRange,      // i1: low <= index < high
  And,          // i1: operand 0 and operand 1
  Select,       // operand 0 ? operand 1 : operand 2
  Combine,      // `op` (sgd.scatter) on operand 0, what was there, and operand 1, the update
  Clamp,        // i64: the integer operand 0, limited to [low, high), minus low; read as unsigned when `isUnsigned`
  Quotient,     // i64: index / high, for non-negative index
  Remainder,    // i64: index % high, for non-negative index
};

struct Node {
  explicit Node(NodeKind kind, Type type = {}) : kind(kind), type(type) {}

  NodeKind kind;
  Type type;  // element type; null for i64 index values
  Operation* op = nullptr;
  llvm::SmallVector<unsigned, 3> operands;
  IndexExpr index;
  TypedAttr value;
  unsigned buffer = kNone;
  unsigned guard = kNone;
  int64_t low = 0, high = 0;
  bool isUnsigned = false;
  uint64_t vars = 0;   // loop variables that the value depends on
  unsigned phase = 0;  // 0, or the number of the last reduction phase that it needs
};

/// A result: node `value` goes to element `index` of result `result`; perRowPoint: once per row point, else once per
/// parallel point.
struct Store {
  unsigned result;
  unsigned value;
  IndexExpr index;
  bool perRowPoint;
};

/// A scatter whose updates may meet: per point of the parallel domain, the initial values are stored over `initVars`,
/// then each update over `updateVars`, in this order, is combined into element `target` if `inside` holds (kNone:
/// always).
struct ScatterLoops {
  ScatterOp op;
  llvm::SmallVector<unsigned> initVars, updateVars;
  IndexExpr initIndex, target, fallback;  // fallback: some element of the point
  unsigned initValue = kNone, update = kNone, inside = kNone;
};

struct KernelPlan {
  fusion::ClusterOp cluster;
  IndexSpace space;
  llvm::SmallVector<unsigned> parallelVars, rowVars;  // outer to inner; the lane variable is the last of one of them
  unsigned laneVar = kNone;                           // kNone: every point alone
  bool laneInRow = false;
  unsigned tileVar = kNone;  // walked in tiles with the lane variable: some load is contiguous in it
  std::vector<Node> nodes;
  llvm::DenseMap<unsigned, unsigned> opaqueVars;  // index variable -> node that computes it
  llvm::SmallVector<Store> stores;
  std::optional<ScatterLoops> scatter;          // instead of stores
  llvm::SmallVector<DenseElementsAttr> tables;  // constants with several elements: buffers numbered after the operands
  llvm::SmallVector<AxisListAttr> coordinates;
  unsigned phases = 0;  // reduction phases; the stores per row point follow in one more

  int64_t product(llvm::ArrayRef<unsigned> vars) const;
  uint64_t mask(llvm::ArrayRef<unsigned> vars) const;
  /// Lanes that are read as vectors, picked by shuffles: every second element, backwards, ...
  static bool isNear(int64_t laneStep) { return laneStep != 0 && std::abs(laneStep) <= 4; }
  /// A load with lanes farther apart from each other, whose place is affine in the loop variables.
  bool isTransposed(const Node& node) const;
  bool isReduction() const { return phases > 0 || scatter; }
};

/// How a target walks the domain.
enum class WalkStyle {
  /// A thread walks whole rows, in vectors; points without reductions make rows too, or square tiles where loads are
  /// contiguous along another variable.
  Rows,
  /// Each point is for itself: only reductions have row variables, and `tileVar`, where there is one, is parallel.
  Threads,
};

/// Plans the loops of `cluster`; emits an error on an op that cannot be part of a kernel, or of this one.
FailureOr<KernelPlan> planKernel(fusion::ClusterOp cluster, WalkStyle style = WalkStyle::Rows);

}  // namespace mlir::sgd::kernels

#endif
