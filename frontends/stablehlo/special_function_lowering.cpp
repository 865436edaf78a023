// Lowers special functions that the graph level has no op for.
#include "passes/graph/functions/special_functions.h"

#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

template <auto write>
LogicalResult lowerFunction(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  if (!isa<FloatType>(type.getElementType()) || l.getOperandType() != type) return l.unsupportedType();
  TensorMath math(l.builder, l.loc);
  if constexpr (std::is_invocable_v<decltype(write), TensorMath&, Value>)
    return l.finish(write(math, l.operands[0]));
  else
    return l.finish(write(math, l.operands[0], l.operands[1]));
}

}  // namespace

void mlir::sgd::addSpecialFunctionLowerings(LoweringTable& table) {
  table["chlo.bessel_i1e"] = lowerFunction<writeBesselI1e>;
  table["chlo.digamma"] = lowerFunction<writeDigamma>;
  table["chlo.erf_inv"] = lowerFunction<writeErfInv>;
  table["chlo.lgamma"] = lowerFunction<writeLogGamma>;
  table["chlo.next_after"] = lowerFunction<writeNextAfter>;
  table["chlo.polygamma"] = lowerFunction<writePolygamma>;
  table["chlo.zeta"] = lowerFunction<writeZeta>;
}
