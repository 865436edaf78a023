// The programs of a compilation, as its stages begin with them.
#ifndef SGD_COMPILER_LOAD_PROGRAMS_H
#define SGD_COMPILER_LOAD_PROGRAMS_H

#include "compiler/driver/diagnostics.h"
#include "compiler/driver/files.h"
#include "compiler/recipe/requested.h"
#include "compiler/timings.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// Parses and imports `sources`: each is a module inside of the one that is returned, which has the request. Refuses
/// programs of which only some are written by stages. Null after an error.
OwningOpRef<ModuleOp> importPrograms(MLIRContext& context, ArrayRef<ProgramSource> sources, const Requested& requested,
                                     DiagnosticPrinter& printer, Timings* timings);

/// Refuses what is for whole programs where programs are written by stages.
LogicalResult checkStages(ModuleOp compilation, const Requested& requested, DiagnosticPrinter& printer);

}  // namespace mlir::sgd

#endif
