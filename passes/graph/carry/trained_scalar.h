// The scalar whose gradient updates the state of a step, among several.
//
//   loss = sum(f(w, x))        reads w, and the gradient g reads what it is computed from: f's intermediate values
//   g    = df/dw(w, x)
//   norm = sum(g * g)          reads w too, but by way of g, which updates w
//   size = sum(w * w)          reads w, but g reads nothing that it is computed from
//   w'   = w - 0.1 * g
#ifndef SGD_PASSES_GRAPH_CARRY_TRAINED_SCALAR_H
#define SGD_PASSES_GRAPH_CARRY_TRAINED_SCALAR_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// The arguments from which floating-point values alone lead to a scalar: derivatives do not pass comparisons.
struct ScalarEvidence {
  unsigned numTrained = 0;    // tensors of state that it depends on, but not on what updates them
  size_t numShared = 0;       // ops that gradients depend on too
  size_t numOwn = 0;          // all others
  llvm::BitVector gradients;  // that it depends on
  llvm::BitVector values;     // by number
};

class TrainedScalars {
 public:
  /// `function`, whose carried results are decided, does not change meanwhile.
  explicit TrainedScalars(func::FuncOp function);

  /// Those of `results` whose gradient may update the state: the ones that most of it depends on, that gradients have
  /// ops in common with, and that are not computed from more gradients than another. All where nothing tells.
  SmallVector<unsigned> select(ArrayRef<unsigned> results);

  /// Whether result `a`, which select() has left, is a likelier one than `b`: gradients read more of it, or it is `b`
  /// and a penalty of state, or less is computed behind what gradients read, as a perplexity is behind the loss.
  bool isLikelier(unsigned a, unsigned b) const;

 private:
  struct State {
    unsigned argument;
    SmallVector<unsigned> gradients;  // places in `gradients`
  };

  unsigned getNumber(Value value) { return numbers.try_emplace(value, numbers.size()).first->second; }
  void findGradients(Value updated, State& state);
  llvm::BitVector findFloatSources(ArrayRef<Value> values);
  ScalarEvidence judge(Value scalar);
  bool isPenalized(unsigned a, unsigned b) const;
  Value getScalar(unsigned result) const;

  func::FuncOp function;
  llvm::DenseMap<Value, unsigned> numbers;
  SmallVector<State, 0> states;
  SmallVector<Value> gradients;
  llvm::BitVector readByGradients;
  llvm::DenseMap<unsigned, ScalarEvidence> evidence;  // by result
};

}  // namespace mlir::sgd

#endif
