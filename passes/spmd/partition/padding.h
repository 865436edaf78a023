// The padding behind the elements of an unevenly sharded dimension. It is undefined and stays so, except where an
// op combines elements along the dimension: there its operand gets the filler that the op's rule declares.
#ifndef SGD_PASSES_SPMD_PARTITION_PADDING_H
#define SGD_PASSES_SPMD_PARTITION_PADDING_H

#include "dialects/sgd/sharding_rule.h"
#include "passes/spmd/partition/reshard_emitter.h"

namespace mlir::sgd {

/// `value`, the shard of a tensor of type `global`, with `filler` (a scalar) for the padding of dimensions `dims`.
Value fillPadding(OpBuilder& builder, Location loc, Value value, RankedTensorType global, ArrayRef<int64_t> dims,
                  TypedAttr filler, ReshardEmitter& emitter);

/// The scalar of type `element` for `fill`, or null when the operand is not read there or the reduction has no neutral
/// element.
TypedAttr getFiller(OpBuilder& builder, PaddingFill fill, ReduceKind kind, Type element);

/// Fills the padding of operands during localisation, once for each value and filler.
class PaddingFiller {
 public:
  explicit PaddingFiller(ReshardEmitter& emitter) : emitter(emitter) {}

  /// Notes which operands of `op`, whose types are still global, have padding along a reduction.
  void note(Operation* op);

  /// Fills what was noted; the operands are local now.
  void fill(Operation* op);

 private:
  struct PaddedOperand {
    unsigned operand;
    RankedTensorType global;
    SmallVector<int64_t, 2> dims;
    TypedAttr filler;
  };

  ReshardEmitter& emitter;
  DenseMap<Operation*, SmallVector<PaddedOperand, 1>> noted;
  DenseMap<std::tuple<Value, Attribute, Attribute>, Value> filled;  // by value, dimensions, filler
};

}  // namespace mlir::sgd

#endif
