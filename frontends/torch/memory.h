// Names of tensors that share memory. Graph values do not alias: a write gives the memory a new value, and views of it
// are computed anew when they are read.
#ifndef SGD_FRONTENDS_TORCH_MEMORY_H
#define SGD_FRONTENDS_TORCH_MEMORY_H

#include "frontends/torch/aten_op.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::sgd::torch {

/// How the result of an op relates to the memory of its operand.
enum class Sharing {
  Own,      ///< memory of its own
  View,     ///< the operand's memory, other elements or dimensions
  Same,     ///< the operand itself
  Unknown,  ///< a view or a copy, which the archive does not say
};

/// Returns how results of `node` relate to the tensor that it views, and that tensor's name.
std::pair<Sharing, StringRef> getSharing(const Node& node, const ExportedProgram& program);

/// Returns whether a target gives its operand other dimensions, as "unsqueeze_" does. Its result is a view of the
/// tensor that the operand was, and the archive calls the operand by the result's name from then on.
bool changesDims(StringRef target);

/// Returns `base` with the elements that `view` consists of replaced by `value`; null if `view` is not made of `base`
/// by ops that move elements and keep each once.
Value writeThrough(TensorMath& math, Value base, Value view, Value value);

class Memory {
 public:
  /// Lowers a view op once more from the current value of its operand, and sets the values of its outputs.
  using Recompute = function_ref<LogicalResult(const Node&)>;

  Memory(const ExportedProgram& program, AtenOp::Values& values) : program(program), values(values) {}

  /// Notes the memory of the node's results.
  void note(const Node& node);
  /// Notes that `name` is another name of `base`, to which an op has written.
  void noteSame(StringRef name, StringRef base);

  /// Gives `name` its current value, if writes to its memory have outdated the one it has.
  LogicalResult refresh(StringRef name, Recompute recompute);

  /// Returns whether writes to `name` reach all names of its memory.
  bool isWritable(StringRef name) const { return !unknown.contains(getRoot(name)); }
  /// Returns the tensor whose memory `name` views.
  StringRef getRoot(StringRef name) const;
  /// Gives `name`, which is current, another value. Fails if `name` is a view that cannot be written through.
  LogicalResult write(TensorMath& math, StringRef name, Value value);

 private:
  struct View {
    std::string base;
    const Node* node = nullptr;  // null: the same tensor
    unsigned version = 0;        // of the root, that the value is made of
  };

  void add(StringRef name, StringRef base, const Node* node);

  const ExportedProgram& program;
  AtenOp::Values& values;
  llvm::StringMap<View> views;
  llvm::StringMap<unsigned> versions;  // by root: the number of writes
  llvm::StringSet<> unknown;           // roots that may share memory with other roots
};

}  // namespace mlir::sgd::torch

#endif
