// One plan-level function as an artifact program.
#ifndef SGD_COMPILER_EXPORT_PROGRAM_H
#define SGD_COMPILER_EXPORT_PROGRAM_H

#include <map>
#include <string>

#include "compiler/export/export.h"
#include "compiler/export/export_types.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/artifact/writer.h"

namespace mlir::sgd {

/// State that all programs of a module share.
struct ExportContext {
  artifact::ArtifactWriter& writer;
  MeshAttr mesh;                      ///< without axes when the module has none
  llvm::StringMap<uint32_t> kernels;  ///< position in ArtifactT.kernels
  llvm::StringSet<> stateNames;       ///< names of arguments that some program carries
  /// Position in ArtifactT.channels, by program and number there.
  std::map<std::string, llvm::DenseMap<int64_t, uint32_t>> channels = {};
  ExportedOps* ops = nullptr;  ///< where wanted; begins with an empty list for each program
};

/// Instructions, inputs, outputs, locations, explanations and totals of `function`; constants go to the writer.
FailureOr<std::unique_ptr<artifact::ProgramT>> exportProgram(func::FuncOp function, ExportContext& context);

/// Bytes that a rank sends in `collective`.
uint64_t getSentBytes(plan::CollectiveOp collective);

/// Bytes that a rank sends in `instruction`, a collective or a message to another stage; of others 0.
uint64_t getSentBytes(plan::InstructionOpInterface instruction);

/// Ranks in the group of `collective`.
int64_t getGroupSize(plan::CollectiveOp collective);

}  // namespace mlir::sgd

#endif
