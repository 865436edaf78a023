// Lowers calls of library functions that have a meaning here, and top_k, which comes as one of them too. Others are
// refused by name.
#include "frontends/stablehlo/host_call_lowering.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/linear_algebra_lowering.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The `k` largest (or smallest) elements of the last dimension, in total order.
LogicalResult chooseFirst(OpLowering& l, int64_t k, bool largest) {
  RankedTensorType type = l.getOperandType();
  if (type.getRank() == 0 || k < 0 || k > type.getShape().back())
    return l.error() << "cannot choose " << k << " elements of the last dimension of " << type;
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = k;
  Type position = l.op->getNumResults() == 2 ? l.getResultType(1).getElementType() : Type();
  bool fits = position && (position.isInteger(32) || position.isInteger(64)) &&
              l.getResultType(0) == type.clone(shape) && l.getResultType(1).getShape() == ArrayRef(shape);
  if (!fits)
    return l.error() << "results must be the chosen values and their i32 or i64 positions, of shape ["
                     << ArrayRef(shape) << "]";
  Value input = largest ? l.operands[0] : l.invertOrder(l.operands[0]);
  auto topK = TopKOp::create(l.builder, l.loc, l.getResultType(0), l.getResultType(1), input, k,
                             isUnsigned(l.getElementType()));
  l.results = {largest ? topK.getValues() : l.invertOrder(topK.getValues()), topK.getPositions()};
  return success();
}

LogicalResult lowerTopK(OpLowering& l) {
  return chooseFirst(l, static_cast<int64_t>(cast<chlo::TopKOp>(l.op).getK()), /*largest=*/true);
}

/// As exports without `chlo` write it: `mhlo.attributes = {k = 3 : i64, largest = true}`.
LogicalResult lowerTopKCall(OpLowering& l) {
  auto attributes = l.op->getAttrOfType<DictionaryAttr>("mhlo.attributes");
  auto k = attributes ? attributes.getAs<IntegerAttr>("k") : IntegerAttr();
  auto largest = attributes ? attributes.getAs<BoolAttr>("largest") : BoolAttr();
  if (!k || l.operands.size() != 1)
    return l.error() << "@mhlo.topk needs one operand and an integer 'k' in mhlo.attributes";
  return chooseFirst(l, k.getInt(), !largest || largest.getValue());
}

template <typename OpTy>
LogicalResult lowerFloatFunction(OpLowering& l) {
  if (l.operands.size() != 1 || l.op->getNumResults() != 1 || !isa<FloatType>(l.getElementType()) ||
      l.getResultType() != l.getOperandType())
    return l.error() << "@" << cast<stablehlo::CustomCallOp>(l.op).getCallTargetName()
                     << " needs one operand of floats and a result of its type";
  return l.replace<OpTy>(l.operands);
}

/// A use that JAX makes so that XLA does not remove the value: nothing.
LogicalResult lowerSink(OpLowering& l) {
  if (l.op->getNumResults() != 0) return l.error() << "@dce_sink has results; expected none; remove them";
  return success();
}

LogicalResult lowerCustomCall(OpLowering& l) {
  static const LoweringTable targets = {
      {"mhlo.acos", lowerFloatFunction<math::AcosOp>},
      {"mhlo.acosh", lowerFloatFunction<math::AcoshOp>},
      {"mhlo.asin", lowerFloatFunction<math::AsinOp>},
      {"mhlo.asinh", lowerFloatFunction<math::AsinhOp>},
      {"mhlo.atanh", lowerFloatFunction<math::AtanhOp>},
      {"mhlo.cosh", lowerFloatFunction<math::CoshOp>},
      {"mhlo.erf", lowerFloatFunction<math::ErfOp>},
      {"mhlo.sinh", lowerFloatFunction<math::SinhOp>},
      {"mhlo.tan", lowerFloatFunction<math::TanOp>},
      {"mhlo.topk", lowerTopKCall},
      {"ApproxTopK", lowerApproxTopK},
      {"cu_threefry2x32", lowerThreeFryCall},
      {"cu_threefry2x32_ffi", lowerThreeFryCall},
      {"dce_sink", lowerSink},
      {"ragged_all_to_all", lowerRaggedAllToAll},
      {kHostCallTarget, lowerHostCall},
  };
  StringRef target = cast<stablehlo::CustomCallOp>(l.op).getCallTargetName();
  if (auto known = targets.find(target); known != targets.end()) return known->second(l);
  if (isLinearAlgebraCall(target)) return lowerLinearAlgebraCall(l);
  return l.error() << "@" << target
                   << " is not supported yet; calls into libraries of the exporting process cannot "
                      "be compiled";
}

}  // namespace

void mlir::sgd::addCustomCallLowerings(LoweringTable& table) {
  table["chlo.top_k"] = lowerTopK;
  table["stablehlo.custom_call"] = lowerCustomCall;
}
