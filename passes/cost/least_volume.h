// The least number of bytes that a rank must send or receive to do its share of a program's matmuls:
// a geometric program over how many elements of each tensor the rank reads or contributes to. No IR.
//
// Example: a matmul of 256 x 256 matrices of bytes on 64 ranks, which hold 1/64 of each matrix. A rank that does 1/64
// of the multiplications needs a elements of A, b of B and c of the result with a b c >= (256^3 / 64)^2 (Loomis and
// Whitney): the cheapest is a = b = c = 4,096, of which it holds 1,024 each. So it sends or receives 3 * 3,072 = 9,216
// bytes at least, as a grid of 4 x 4 x 4 ranks does.
#ifndef SGD_PASSES_COST_LEAST_VOLUME_H
#define SGD_PASSES_COST_LEAST_VOLUME_H

#include <vector>

#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd {

/// Elements of one tensor that a rank deals with: reads, or adds to. Those beyond `held` are sent or received.
struct Quantity {
  double bytes = 1;  ///< of one element; above 0
  double held = 0;   ///< elements at no cost; above 0, at most `least`
  double least = 0;  ///< elements that it must deal with
  double most = 0;   ///< elements of the tensor
};

/// A multilinear op of which a rank does a share: the product of these quantities' amounts is at least exp(logLeast).
/// A quantity may occur twice.
struct VolumeConstraint {
  llvm::SmallVector<unsigned, 3> quantities;
  double logLeast = 0;
};

struct LeastVolume {
  double bytes = 0;             ///< certified: no amounts that satisfy all constraints need less
  std::vector<double> amounts;  ///< by quantity, close to the cheapest ones
};

/// Minimises the sum of bytes * (amount - held) with least <= amount <= most. Convex in the logarithms of the amounts;
/// solved in the dual, whose every point is a lower bound, one multiplier at a time. A constraint that all quantities
/// at their most do not satisfy is left out.
LeastVolume findLeastVolume(const std::vector<Quantity>& quantities, const std::vector<VolumeConstraint>& constraints);

}  // namespace mlir::sgd

#endif
