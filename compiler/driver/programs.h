// Programs as modules: imported by their frontend, and brought into the one form in which compilations begin.
#ifndef SGD_COMPILER_PROGRAMS_H
#define SGD_COMPILER_PROGRAMS_H

#include "compiler/driver/files.h"
#include "compiler/recipe/plan_options.h"
#include "compiler/timings.h"
#include "frontends/frontend.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// The bytes and the file's name, as frontends take them; `source` outlives it.
llvm::MemoryBufferRef getBuffer(const ProgramSource& source);

/// How programs are imported for `options`.
ImportOptions getImportOptions(const PlanOptions& options);

/// A graph-level module with one function called like the program, and the mesh `@mesh` if it has one; or, where the
/// text is a pipeline written by hand (hasStages), an SPMD-level module with a function for each stage. Null after an
/// error. Parsing and importing are timed apart.
OwningOpRef<ModuleOp> loadProgram(MLIRContext* context, const ProgramSource& source, const ImportOptions& options,
                                  Timings* timings);

/// Whether the module is at the SPMD level and has a function for each stage: its mesh has the stage axis.
bool hasStages(ModuleOp module);

}  // namespace mlir::sgd

#endif
