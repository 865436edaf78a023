// Lowers approximate top_k (jax.lax.approx_max_k, approx_min_k) to the exact one, as XLA does on CPUs: any recall
// target is met. Without aggregation the result is as long as an accelerator's partial results would be, sorted too.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/op_lowering.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Whether the comparator wants the largest elements first, or the smallest; nullopt when it is neither.
std::optional<bool> wantsLargest(stablehlo::CustomCallOp call) {
  ArrayAttr names = call.getCalledComputations();
  auto name = names.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(names[0]) : FlatSymbolRefAttr();
  auto function = name ? call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getAttr()) : func::FuncOp();
  if (!function || function.isExternal() || !function.getBody().hasOneBlock()) return std::nullopt;
  Block& body = function.getBody().front();
  if (body.getTerminator()->getNumOperands() != 1 || body.getNumArguments() < 2) return std::nullopt;
  auto compare = skipConstraints(body.getTerminator()->getOperand(0)).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getLhs() != body.getArgument(0) || compare.getRhs() != body.getArgument(1))
    return std::nullopt;
  switch (compare.getComparisonDirection()) {
    case stablehlo::ComparisonDirection::GT:
      return true;
    case stablehlo::ComparisonDirection::LT:
      return false;
    default:
      return std::nullopt;
  }
}

/// `value` with dimensions `dim` and the last one exchanged.
Value exchangeWithLast(OpLowering& l, Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  int64_t last = type.getRank() - 1;
  if (dim == last) return value;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), shape(type.getShape());
  std::swap(order[dim], order[last]);
  std::swap(shape[dim], shape[last]);
  return l.create<TransposeOp>(type.clone(shape), value, order);
}

}  // namespace

LogicalResult mlir::sgd::lowerApproxTopK(OpLowering& l) {
  auto call = cast<stablehlo::CustomCallOp>(l.op);
  auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto dim = config ? config.getAs<IntegerAttr>("reduction_dim") : IntegerAttr();
  std::optional<bool> isLargest = wantsLargest(call);
  if (!dim || !isLargest || l.operands.size() != 4 || l.op->getNumResults() != 2)
    return l.error()
           << "@ApproxTopK needs values with their positions, an initial value of each, a comparator that is one "
              "comparison GT or "
              "LT, and a reduction_dim in mhlo.backend_config, as jax.lax.approx_max_k and approx_min_k export it";
  RankedTensorType type = l.getOperandType();
  int64_t along = dim.getInt() < 0 ? dim.getInt() + type.getRank() : dim.getInt();
  auto iota = l.operands[1].getDefiningOp<IotaOp>();
  if (along < 0 || along >= type.getRank() || !iota || static_cast<int64_t>(iota.getDimension()) != along ||
      l.getOperandType(1).getShape() != type.getShape())
    return l.error() << "@ApproxTopK needs the positions along dimension " << along
                     << " as its second operand; give the indices of the values and look others up by them";
  int64_t k = l.getResultType(0).getRank() == type.getRank() ? l.getResultType(0).getDimSize(along) : -1;
  SmallVector<int64_t> shape(type.getShape());
  shape[along] = k;
  RankedTensorType positionType = l.getOperandType(1);
  bool fits = k >= 0 && k <= type.getDimSize(along) && l.getResultType(0) == type.clone(shape) &&
              l.getResultType(1) == positionType.clone(shape) &&
              (positionType.getElementType().isInteger(32) || positionType.getElementType().isInteger(64));
  if (!fits)
    return l.error() << "@ApproxTopK has results that are not some of the values and their i32 or i64 positions";
  Value input = exchangeWithLast(l, l.operands[0], along);
  if (!*isLargest) input = l.invertOrder(input);
  SmallVector<int64_t> rows(tensorType(input).getShape());
  rows.back() = k;
  auto topK = TopKOp::create(l.builder, l.loc, type.clone(rows), positionType.clone(rows), input, k,
                             isUnsigned(l.getElementType()));
  Value values = *isLargest ? topK.getValues() : l.invertOrder(topK.getValues());
  l.results = {exchangeWithLast(l, values, along), exchangeWithLast(l, topK.getPositions(), along)};
  return success();
}
