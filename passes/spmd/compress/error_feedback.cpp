// A few ops on elements, computed with their neighbours in one kernel.
#include "passes/spmd/compress/error_feedback.h"

#include <limits>

using namespace mlir;
using namespace mlir::sgd;

Value mlir::sgd::addError(TensorMath& math, Value input, Value error) {
  Value due = math.convert(input, math.getBuilder().getF32Type());
  return math.add(due, math.reshape(error, tensorType(input).getShape()));
}

Value mlir::sgd::keepFinite(TensorMath& math, Value value) {
  Value isFinite = math.isLess(math.absolute(value), math.splat(std::numeric_limits<float>::infinity(), value));
  return math.select(isFinite, value, math.splat(0, value));
}
