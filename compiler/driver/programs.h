// Programs as modules: parsed, imported to the graph level, fitted to the mesh that the user asks for, and joined into
// one module.
#ifndef SGD_COMPILER_PROGRAMS_H
#define SGD_COMPILER_PROGRAMS_H

#include "compiler/driver/driver.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// A graph-level module with one function called like the program, and the mesh `@mesh` if it has one; or, where the
/// text is a pipeline written by hand (hasStages), an SPMD-level module with a function for each stage. Null after an
/// error. Parsing and importing are timed apart.
OwningOpRef<ModuleOp> loadProgram(MLIRContext* context, const ProgramSource& source, const CompileOptions& options,
                                  Timings* timings);

/// Whether the module is at the SPMD level and has a function for each stage: its mesh has the stage axis.
bool hasStages(ModuleOp module);

/// Gives the module's mesh axes new sizes; an axis that the mesh has not is an error.
LogicalResult resizeMesh(ModuleOp module, llvm::ArrayRef<MeshAxisSize> sizes);

/// Gives every program the mesh of those that have one, which must be equal.
LogicalResult shareMesh(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs);

/// Marks arguments that several of `programs` share, by name: they have one sharding and one buffer, so that no pass
/// may choose another for one program alone.
void pinSharedArguments(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs);

/// Moves the functions of all `programs` into the first one. They share one mesh.
void joinPrograms(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs);

}  // namespace mlir::sgd

#endif
