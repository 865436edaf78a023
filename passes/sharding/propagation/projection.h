// Projection of tensor shardings onto an op's factors and back. Plain C++ on axis parts; a factor
// list comes from an op's sharding rule.
//
// Example: a reshape of tensor<48> to tensor<8x6> has the factors i = 8 and j = 6: the operand's dimension is made of
// {i, j}, major first, those of the result of {i} and {j}. On a mesh with "a" = 4 and "b" = 4:
//
//   project, operand sharded {"a", "b"}    i: "a", "b":(1)2 (4 * 2 shards fill i = 8)    j: "b":(2)2
//   expandDims, into the result            [{"a", "b":(1)2}, {"b":(2)2}]
//   joinFactors, back to the operand       {"a", "b"}: i is fully sharded, so j's axes may follow
//   joinFactors with i: "a", j: "b"        {"a"}, not exact: i has 2 elements per shard, over which j would repeat
#ifndef SGD_PASSES_SHARDING_PROPAGATION_PROJECTION_H
#define SGD_PASSES_SHARDING_PROPAGATION_PROJECTION_H

#include "passes/mesh/axis.h"

namespace mlir::sgd {

/// Axes that shard one dimension; an open dimension may receive more.
struct DimAxes {
  AxisParts axes;
  bool isOpen = true;

  bool operator==(const DimAxes&) const = default;
};

/// The sharding of one tensor while propagation works on it. Parts are in merged form and shard at
/// most one place of the tensor.
struct TensorAxes {
  llvm::SmallVector<DimAxes, 4> dims;
  AxisParts replicated;  // stay out of every dimension
  AxisParts unreduced;   // the tensor is a sum over them

  bool isSharded() const;
};

/// Factors of each dimension of a tensor, major to minor, as in dialects/sgd/sharding_rule.h.
using DimFactors = llvm::ArrayRef<llvm::SmallVector<unsigned, 1>>;

/// The axes of one tensor along one factor of the op.
struct FactorAxes {
  AxisParts axes;
  bool isPresent = false;    // the tensor has this factor
  bool isOpen = false;       // the factor may receive more axes in this tensor
  bool isMinorMost = false;  // last factor of its dimension
  AxisParts overflow;        // axes of the dimension that no factor can hold; only on the minor-most one
};

/// One tensor's view of all factors of the op, indexed by factor.
struct TensorFactors {
  llvm::SmallVector<FactorAxes, 4> factors;
  AxisParts replicated;  // what shards a dimension without factors (of size 1) too: no factor may have it
  AxisParts unreduced;
};

/// Whether an op's tiles of a dimension of several factors must be made of tiles of these, or the op
/// exchanges elements between ranks where they are not (a reshape).
enum class Tiling : uint8_t { Nested, Exchanged };

/// Distributes each dimension's axes over its factors, major to minor, cutting an axis where a
/// factor is full. The minor-most factor takes all that is left, whether it divides or not; where
/// tiles are exchanged, so does the first one that an axis does not divide. `sizes` are indexed by
/// factor.
TensorFactors project(const TensorAxes& tensor, DimFactors mapping, llvm::ArrayRef<int64_t> sizes,
                      Tiling tiling = Tiling::Nested);

/// The axes of a dimension made of `factors`, given each factor's axes: the longest prefix that a
/// dimension can hold, which ends at the first factor that is not fully sharded. Sets `*isExact`, unless null, to
/// false when something had to be left out.
AxisParts joinFactors(llvm::ArrayRef<unsigned> factors, llvm::ArrayRef<int64_t> sizes,
                      llvm::ArrayRef<AxisParts> axesPerFactor, bool* isExact = nullptr);

/// True when tiles of the dimensions of `mapping` are made of tiles of their factors: where a
/// dimension has several factors, the axes of each must divide it. (A dimension of one factor may be
/// sharded unevenly: its tiles are the factor's.) Where tiles are exchanged it is enough that the
/// shards of the factors before an uneven one begin with one of its tiles.
bool hasFactorTiles(DimFactors mapping, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<AxisParts> axesPerFactor,
                    Tiling tiling = Tiling::Nested);

/// Writes the axes of `factors` back into the dimensions of `tensor`; returns true when a dimension
/// received more axes. A dimension that would lose axes stays as it was; one that cannot hold the axes
/// of all its factors receives the longest prefix that it can.
bool expandDims(TensorAxes& tensor, DimFactors mapping, llvm::ArrayRef<int64_t> sizes, const TensorFactors& factors);

}  // namespace mlir::sgd

#endif
