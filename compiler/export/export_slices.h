// The buffers of a program as slices of the artifact's spaces.
#ifndef SGD_COMPILER_EXPORT_SLICES_H
#define SGD_COMPILER_EXPORT_SLICES_H

#include "compiler/export/export_types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/artifact/writer.h"

namespace mlir::sgd {

/// The tiled op that has `root` as a block argument, or null.
plan::TiledOp getTiledOf(Value root);

/// Bytes of a buffer.
int64_t getBufferBytes(Value buffer);

class SliceExporter {
 public:
  /// Constants that are met go to `writer`.
  SliceExporter(func::FuncOp function, artifact::ArtifactWriter& writer) : function(function), writer(writer) {}

  /// From now on `callee` is run by `caller`, a loop or a branch: its arguments and scratch are what that passes.
  void enter(func::FuncOp callee, Operation* caller) { callers[callee] = caller; }

  artifact::Slice get(Value buffer);
  std::unique_ptr<artifact::Slice> getOwned(Value buffer) { return std::make_unique<artifact::Slice>(get(buffer)); }

 private:
  /// The loop or branch that runs the function of `buffer`, or null for the program's own function.
  Operation* getCaller(Value buffer) { return callers.lookup(buffer.getParentBlock()->getParentOp()); }
  std::pair<artifact::Space, uint64_t> getPlace(plan::AllocOp alloc);

  func::FuncOp function;
  artifact::ArtifactWriter& writer;
  llvm::DenseMap<Value, artifact::Slice> constants;
  llvm::DenseMap<Operation*, Operation*> callers;  // of functions that loops and branches run
};

}  // namespace mlir::sgd

#endif
