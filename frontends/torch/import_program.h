// Exported programs as graph-level modules.
#ifndef SGD_FRONTENDS_TORCH_IMPORT_PROGRAM_H
#define SGD_FRONTENDS_TORCH_IMPORT_PROGRAM_H

#include "frontends/frontend.h"
#include "frontends/torch/initial_values.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd::torch {

/// The targets that are lowered, sorted: "aten.add.Tensor".
SmallVector<std::string> getLoweredOps();

/// A module with one function `main`: arguments are parameters, buffers and inputs with their names and roles; results
/// are the outputs of `forward` and the next values of buffers. Returns null after errors at the user's lines, which
/// name all unsupported ops at once.
/// `readMember` and `readStart` return bytes of a member of the archive: of constants, and of weights that others like
/// them are drawn after.
OwningOpRef<ModuleOp> importProgram(MLIRContext* context, const ExportedProgram& program, StringRef fileName,
                                    ReadMember readMember, ReadStart readStart, const ImportOptions& options);

}  // namespace mlir::sgd::torch

#endif
