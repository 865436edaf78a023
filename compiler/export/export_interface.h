// One model per kind of instruction says how it is written to the artifact (export_interface.td).
#ifndef SGD_COMPILER_EXPORT_INTERFACE_H
#define SGD_COMPILER_EXPORT_INTERFACE_H

#include <functional>

#include "compiler/export/export_slices.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::sgd {

/// Operands of instructions in the artifact's terms.
struct OperandExporter {
  SliceExporter& slices;
  MeshAttr mesh;                                       ///< without axes when the module has none
  const llvm::StringMap<uint32_t>& kernels;            ///< position in ArtifactT.kernels
  const llvm::DenseMap<Operation*, uint32_t>& starts;  ///< collectives to their instructions, of those so far
  const llvm::DenseMap<int64_t, uint32_t>& channels;   ///< of the program: position in ArtifactT.channels
  std::function<uint32_t(StringRef)> locations;        ///< position of a text in ProgramT.locations, where it is added
};

}  // namespace mlir::sgd

#include "compiler/export/export_interface.h.inc"

namespace mlir::sgd {

artifact::LaunchT exportLaunch(plan::LaunchOp launch, OperandExporter& operands);

/// Attaches the models to all instructions of the plan but those of control flow, which the program's export lays out.
void registerExports(DialectRegistry& registry);

// Those of one file each.
void registerAttentionExports(MLIRContext& context);
void registerCollectiveExports(MLIRContext& context);
void registerComputeExports(MLIRContext& context);
void registerHostCallExports(MLIRContext& context);
void registerLinearAlgebraExports(MLIRContext& context);
void registerTransferExports(MLIRContext& context);

}  // namespace mlir::sgd

#endif
