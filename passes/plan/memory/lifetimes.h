// When each buffer of a plan-level function holds a value that is still needed.
#ifndef SGD_PASSES_PLAN_MEMORY_LIFETIMES_H
#define SGD_PASSES_PLAN_MEMORY_LIFETIMES_H

#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/plan/memory/arena_planner.h"

namespace mlir::sgd {

/// One use of a buffer by an instruction.
struct Access {
  int64_t position = 0;     ///< of the instruction in the block, one for a group of launches; the return is one too
  Operation* op = nullptr;  ///< the end of a collective or host copy uses what that works on
  bool overwrites = false;  ///< every byte is written, none is read
};

/// The instructions of a function by position, and for each buffer (argument or alloc, behind all views) who uses it,
/// in order.
class BufferUses {
 public:
  /// `kernels` are those of the function's module.
  BufferUses(func::FuncOp function, const SymbolTable& kernels);

  ArrayRef<Access> getAccesses(Value root) const;
  int64_t getPosition(Operation* op) const { return positions.lookup(op); }
  /// Position of the return.
  int64_t getEnd() const { return end; }
  /// Position of the last use, -1 when there is none.
  int64_t getLastUse(Value root) const;

  /// From each overwriting instruction to the last use before the next one. An argument is alive from the start; one
  /// that is not itself overwritten is so to the end, since the next step reads it again. What is returned is alive at
  /// the end.
  std::vector<memory::Lifetime> getLifetimes(Value root) const;

 private:
  llvm::DenseMap<Operation*, int64_t> positions;
  llvm::DenseMap<Value, SmallVector<Access, 4>> accesses;
  int64_t end = 0;
};

}  // namespace mlir::sgd

#endif
