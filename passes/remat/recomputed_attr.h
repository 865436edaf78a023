// The mark of instructions that run again to keep a budget of memory.
#ifndef SGD_PASSES_REMAT_RECOMPUTED_ATTR_H
#define SGD_PASSES_REMAT_RECOMPUTED_ATTR_H

#include <cstdint>
#include <optional>
#include <string>

#include "dialects/plan/plan_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// On instructions that compute or send again what the program had before: `{freed_bytes, seconds}` (DictionaryAttr).
inline constexpr llvm::StringLiteral kRecomputedAttr = "plan.recomputed";

struct Recomputed {
  std::string what;         ///< "kernel", "matmul", "all_gather", ...
  uint64_t freedBytes = 0;  ///< of the buffers that it makes again for others, and that are not kept until then
  double seconds = 0;       ///< by the cost model
};

/// Marks `instruction`; what it is follows from the op.
void setRecomputed(Operation* instruction, uint64_t freedBytes, double seconds);

/// nullopt for what runs for the first time.
std::optional<Recomputed> getRecomputed(Operation* instruction);

/// On functions: an array of what a loop computes again instead of reading it from a stack.
inline constexpr llvm::StringLiteral kRecomputedInLoopsAttr = "sgd.recomputed_in_loops";

/// One step of sgd-recompute-in-loops; of all iterations.
struct RecomputedInLoop {
  std::string what;         ///< "loop", or the kind of a collective
  std::string source;       ///< file:line:column of the value, or nothing
  uint64_t freedBytes = 0;  ///< of stacks, or of what a loop would hold whole
  uint64_t flops = 0;
  uint64_t sentBytes = 0;  ///< more than outside of the loop
  double seconds = 0;      ///< of its arithmetic and its collectives, by the cost model

  DictionaryAttr toAttr(MLIRContext* context) const;
  static std::optional<RecomputedInLoop> fromAttr(Attribute attribute);
};

/// Those of `function`.
SmallVector<RecomputedInLoop, 0> getRecomputedInLoops(func::FuncOp function);

}  // namespace mlir::sgd

#endif
