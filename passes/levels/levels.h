// Which ops there may be at which level of a compilation: one table for all of them.
#ifndef SGD_PASSES_LEVELS_LEVELS_H
#define SGD_PASSES_LEVELS_LEVELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace mlir::sgd {

/// The forms that a program goes through, in this order; `sgdc --emit` has the same names.
enum class Level : uint8_t {
  Graph,    ///< as imported: global shapes, annotations
  Sharded,  ///< every tensor has a sharding
  Spmd,     ///< local shapes, collectives
  Kernels,  ///< kernels and library calls beside collectives
  Plan,     ///< instructions on buffers
};

/// Where an op may be.
struct LevelRule {
  StringLiteral name;  ///< of an op (`sgd.reshard`), or of a dialect (`arith`) whose ops have no rule of their own
  /// In a program, that is in functions, loops, branches and tiles: from the first to the last of these levels.
  Level first, last;
  /// In kernels from this level on, that is in clusters, comparators and `plan.kernel`; nullopt: never.
  std::optional<Level> firstInKernel;
  /// The pass that leaves none in a program after `last`; empty where they stay until the end.
  StringLiteral removedBy;
};

ArrayRef<LevelRule> getLevelRules();

/// The side at fault if an op is not allowed at a level: a pass of the compiler, or the author of the program.
enum class Fault : uint8_t { Compiler, Program };

/// Fails with an error on the first op of `module` that may not be at `level`. The bodies of manual computations, which
/// have local shapes at the graph level already, hold collectives too.
LogicalResult verifyLevel(ModuleOp module, Level level, Fault fault = Fault::Compiler);

/// The rule of the op `name`, else that of `arith` where it acts on each element by itself, else that of its dialect;
/// null where there is none.
const LevelRule* findLevelRule(OperationName name);

}  // namespace mlir::sgd

#endif
