// Which argument or matmul each element of a value comes from, and which partial sums of matmuls a program needs. Ops
// that it cannot see through cost nothing in the bound that is made from this.
#ifndef SGD_COMPILER_TENSOR_ORIGINS_H
#define SGD_COMPILER_TENSOR_ORIGINS_H

#include <optional>

#include "dialects/sgd/update_chains.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// A value's way from its root through ops that keep positions: to know an element of it, a rank that does not know the
/// root's element at this position must receive an element of a value on the way. Ways of different roots share no
/// value.
struct Origin {
  std::optional<unsigned> root;  // none: nothing is said
  double bytes = 0;              // least of an element on the way
  bool keepsDims = false;        // positions are those of the root as they are, not permuted or reshaped
};

/// An argument or a slice of one, the result of a matmul or of a reduction of an argument, or a stack of updates.
struct Root {
  Value value;
  std::optional<unsigned> sum;     // of a matmul or reduction
  std::optional<unsigned> parent;  // of a slice: the argument's root
};

/// Partial results that may be added to each other before they are sent.
struct PartialSum {
  Value value;
  double held = 0;         // elements that a rank may complete without receiving anything, on average
  double contributed = 0;  // elements that it adds to, where this is known
  double bytes = 0;        // least of an element
  bool isNeeded = false;   // as a complete value
  bool isAdded = true;     // by addition: it may go through linear ops before it is sent
};

class TensorOrigins {
 public:
  TensorOrigins(func::FuncOp function, MeshAttr mesh);

  Origin getOrigin(Value value) const { return origins.lookup(value); }
  ArrayRef<Root> getRoots() const { return roots; }
  /// Returns the partial sum of the matmul's result, joined with the values that it is added to.
  const PartialSum& getSum(unsigned sum) const { return partialSums[getLeader(sum)]; }
  /// The number of the sum that stands for all that `sum` was joined with.
  unsigned getLeader(unsigned sum) const;
  /// Matmuls that are computed once and all of whose elements are needed, in order.
  ArrayRef<Operation*> getMatmuls() const { return matmuls; }
  /// True when no dimension of `op`'s tensors leaves ranks with less than others.
  bool isSharedEqually(Operation* op) const;
  /// Ranks that share the work of `op`.
  double getDegree(Operation* op) const;
  /// Shards of a tensor of `type`.
  double getNumShards(Type type) const;

 private:
  void findNeeds(Block& block);
  bool isReadWhole(OpOperand& use) const;
  bool isReadInSlices(Value value) const;
  bool isNeededBy(OpOperand& use) const;
  bool isNeededElsewhere(Value value, Operation* user) const;
  void visit(Operation& op);
  void visitMatmul(Operation* op);
  void visitReduction(Operation* op);
  void visitSlice(SliceOp slice);
  void visitSamePositions(Operation* op);
  unsigned addSum(PartialSum sum);
  void join(unsigned a, unsigned b);
  void setRoot(Value value, std::optional<unsigned> sum, std::optional<unsigned> parent = std::nullopt);
  bool isAddend(OpOperand& operand) const;
  std::optional<unsigned> getSumOf(Operation* op) const;

  MeshAttr mesh;
  UpdateChains chains;
  DenseMap<Value, bool> readWhole;  // all its elements have an influence on results
  DenseMap<Value, bool> needs;      // and must be complete
  DenseMap<Value, Origin> origins;
  DenseMap<Value, unsigned> sumOf;
  SmallVector<Root> roots;
  SmallVector<PartialSum> partialSums;
  SmallVector<unsigned> leaders;  // by sum: itself or one that it was joined with
  SmallVector<Operation*> matmuls;
};

}  // namespace mlir::sgd

#endif
