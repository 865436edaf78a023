// The upper 24 bits of a word are as many as a float's mantissa has.
#include "passes/graph/functions/random_numbers.h"

#include <cmath>
#include <numbers>

#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;

Value mlir::sgd::writeUniform(TensorMath& math, Value words) {
  constexpr int64_t kBits = 24;
  RankedTensorType type = tensorType(words), floats = type.clone(math.getBuilder().getF32Type());
  Value high = math.create<ShRUIOp>(words, math.splat(type, 32 - kBits));
  return math.multiply(math.create<arith::UIToFPOp>(floats, high), math.splat(floats, 0x1p-24));
}

Value mlir::sgd::writeNormal(TensorMath& math, Value words, double bound) {
  // From the middle of each interval, so that neither end is met.
  Value uniform = writeUniform(math, words);
  RankedTensorType type = tensorType(uniform);
  Value centred = math.add(uniform, math.splat(type, 0x1p-25));
  Value signedNumber = math.subtract(math.add(centred, centred), math.splat(type, 1.0));
  if (bound > 0) signedNumber = math.multiply(signedNumber, math.splat(type, std::erf(bound / std::numbers::sqrt2)));
  return math.multiply(writeErfInv(math, signedNumber), math.splat(type, std::numbers::sqrt2));
}
