// By width alone, up to the two types of 16 bits.
#include "passes/kernels/library/call_types.h"

using namespace mlir;

Type mlir::sgd::getWidestFloat(Type lhs, Type rhs, Type result) {
  Type widest = lhs;
  for (Type other : {rhs, result}) {
    unsigned width = other.getIntOrFloatBitWidth(), most = widest.getIntOrFloatBitWidth();
    if (other != widest && width >= most) widest = width > most ? other : Float32Type::get(lhs.getContext());
  }
  return widest;
}
