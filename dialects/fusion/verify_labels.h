// Checks that ops share whose dimensions are labelled: a contraction or a convolution, alone or with an epilogue.
#ifndef SGD_DIALECTS_FUSION_VERIFY_LABELS_H
#define SGD_DIALECTS_FUSION_VERIFY_LABELS_H

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/SmallSet.h"

namespace mlir::fusion {

/// The size of the dimension of `tensor` that is called `label`; 1 where it has none.
inline int64_t getLabelSize(ArrayRef<int64_t> labels, Value tensor, int64_t label) {
  for (auto [dim, own] : llvm::enumerate(labels))
    if (own == label) return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  return 1;
}

/// Labels of a contraction's operands and its first result name dimensions of one size each.
template <typename OpTy>
LogicalResult verifyContraction(OpTy op) {
  llvm::DenseMap<int64_t, int64_t> sizes;
  auto claim = [&](StringRef name, ArrayRef<int64_t> labels, RankedTensorType type) -> LogicalResult {
    llvm::SmallSet<int64_t, 8> seen;
    if (static_cast<int64_t>(labels.size()) != type.getRank())
      return op.emitOpError() << name << " has " << labels.size() << " labels for " << type.getRank() << " dimensions";
    for (auto [label, size] : llvm::zip(labels, type.getShape())) {
      if (!seen.insert(label).second) return op.emitOpError() << name << " names label " << label << " twice";
      if (sizes.try_emplace(label, size).first->second != size)
        return op.emitOpError() << "label " << label << " has two sizes";
    }
    return success();
  };
  if (failed(claim("lhs", op.getLhsLabels(), sgd::tensorType(op.getLhs()))) ||
      failed(claim("rhs", op.getRhsLabels(), sgd::tensorType(op.getRhs()))))
    return failure();
  size_t known = sizes.size();
  if (failed(claim("result", op.getResultLabels(), sgd::tensorType(op->getResult(0))))) return failure();
  if (sizes.size() != known) return op.emitOpError("result has a label that no operand has");
  for (auto [label, size] : sizes) {
    bool inLhs = llvm::is_contained(op.getLhsLabels(), label), inRhs = llvm::is_contained(op.getRhsLabels(), label);
    if (!(inLhs && inRhs) && !llvm::is_contained(op.getResultLabels(), label))
      return op.emitOpError() << "label " << label << " of one operand is missing in the result";
  }
  return success();
}

/// Labels, lists and element types of a convolution.
template <typename OpTy>
LogicalResult verifyConvolution(OpTy op) {
  constexpr int64_t kBatch = ConvolutionOp::kBatch, kGroup = ConvolutionOp::kGroup, kInput = ConvolutionOp::kInput,
                    kOutput = ConvolutionOp::kOutput, kSpatial = ConvolutionOp::kSpatial;
  int64_t spatial = op.getNumSpatialDims();
  for (ArrayRef<int64_t> list : {op.getLow(), op.getLhsDilations(), op.getRhsDilations()})
    if (static_cast<int64_t>(list.size()) != spatial)
      return op.emitOpError("lists differ in the number of spatial dimensions");
  auto isPositive = [](int64_t value) { return value >= 1; };
  if (!llvm::all_of(op.getStrides(), isPositive) || !llvm::all_of(op.getLhsDilations(), isPositive) ||
      llvm::is_contained(op.getRhsDilations(), 0))
    return op.emitOpError("strides and lhs_dilations must be positive, rhs_dilations not zero");
  auto check = [&](StringRef name, ArrayRef<int64_t> labels, Value tensor, int64_t missing) -> LogicalResult {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (static_cast<int64_t>(labels.size()) != type.getRank())
      return op.emitOpError() << name << " has " << labels.size() << " labels for " << type.getRank() << " dimensions";
    llvm::SmallSet<int64_t, 8> seen;
    for (auto [label, size] : llvm::zip(labels, type.getShape())) {
      if (label < -1 || label >= kSpatial + spatial || label == missing)
        return op.emitOpError() << name << " has no dimension " << label;
      if (label == -1 && size != 1)
        return op.emitOpError() << name << " has a dimension of " << size << " without a label";
      if (label != -1 && !seen.insert(label).second)
        return op.emitOpError() << name << " names label " << label << " twice";
    }
    return success();
  };
  if (failed(check("lhs", op.getLhsLabels(), op.getLhs(), kOutput)) ||
      failed(check("rhs", op.getRhsLabels(), op.getRhs(), kBatch)) ||
      failed(check("result", op.getResultLabels(), op.getResult(), kInput)))
    return failure();
  if (op.getLhsSize(kBatch) != op.getResultSize(kBatch)) return op.emitOpError("lhs and result differ in the batch");
  if (op.getLhsSize(kGroup) != op.getResultSize(kGroup) || op.getLhsSize(kGroup) != op.getRhsSize(kGroup))
    return op.emitOpError("operands and result differ in the number of groups");
  if (op.getLhsSize(kInput) != op.getRhsSize(kInput))
    return op.emitOpError("operands differ in the number of input features");
  if (op.getRhsSize(kOutput) != op.getResultSize(kOutput))
    return op.emitOpError("rhs and result differ in the number of output features");
  auto elementOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); };
  if (elementOf(op.getLhs()) != elementOf(op.getRhs()) ||
      !sgd::isReducedType(elementOf(op.getResult()), elementOf(op.getLhs())))
    return op.emitOpError(
        "mixes element types; expected operands of one type and a result of it or of their accumulators");
  return success();
}

}  // namespace mlir::fusion

#endif
