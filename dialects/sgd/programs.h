// The programs of an artifact, as modules.
#ifndef SGD_DIALECTS_SGD_PROGRAMS_H
#define SGD_DIALECTS_SGD_PROGRAMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// RequestAttr of the module of a compilation.
inline constexpr llvm::StringLiteral kRequestAttr = "sgd.request";

/// UnitAttr of the module of a program: parts of it were written for one rank of its mesh (jax.shard_map).
inline constexpr llvm::StringLiteral kWasManualAttr = "sgd.was_manual";

/// UnitAttr of an argument: another program of the artifact has it too, so that its sharding stays.
inline constexpr llvm::StringLiteral kPinnedAttr = "sgd.pinned";

/// The modules of the programs in `compilation`: those inside of it, or, where it has none, itself, which then is one
/// program or has the functions of all.
inline SmallVector<ModuleOp> getPrograms(ModuleOp compilation) {
  auto inner = compilation.getOps<ModuleOp>();
  return inner.empty() ? SmallVector<ModuleOp>{compilation} : llvm::to_vector(inner);
}

/// The functions of programs that are one function each.
inline SmallVector<func::FuncOp> getProgramFunctions(ArrayRef<ModuleOp> programs) {
  return llvm::map_to_vector(programs, [](ModuleOp program) { return *program.getOps<func::FuncOp>().begin(); });
}

}  // namespace mlir::sgd

#endif
