// The operands and results that a call's epilogue needs; which lists there are is said in runtime/library/epilogue.h.
#include "dialects/fusion/library_calls.h"

#include "dialects/fusion/verify_labels.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::fusion;
using mlir::sgd::tensorType;

#define GET_OP_CLASSES
#include "dialects/fusion/library_ops.cpp.inc"
#include "dialects/sgd/tensor_type.h"

Value mlir::fusion::getResidual(Operation* op) {
  if (auto matmul = dyn_cast<LibraryMatmulOp>(op)) return matmul.getResidual();
  auto convolution = dyn_cast<LibraryConvolutionOp>(op);
  return convolution ? convolution.getResidual() : Value();
}

/// Whether a vector of `size` elements lies over the last dimensions of `type`.
static bool isOverLastDims(RankedTensorType type, int64_t size) {
  int64_t last = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0 && last < size; --dim) last *= type.getDimSize(dim);
  return last == size;
}

/// The list, and the operands that only calls of this level have as such.
template <typename OpTy>
static LogicalResult verifyEpilogue(OpTy op, const ::sgd::library::EpilogueCall& call) {
  Epilogue epilogue = op.getEpilogue();
  if (epilogue.empty()) return op.emitOpError("has no epilogue; expected a plain contraction or convolution then");
  if (std::string fault = FaultOf(epilogue, call); !fault.empty()) return op.emitOpError("has ") << fault;
  if (epilogue.Has(EpilogueStep::kResidual) != static_cast<bool>(op.getResidual()))
    return op.emitOpError("needs an operand for a residual, and none without it");
  RankedTensorType result = tensorType(op.getResult());
  if (op.getResidual() && tensorType(op.getResidual()) != result)
    return op.emitOpError("needs a residual of the result's type");
  if (!op.getBias()) return success();
  RankedTensorType bias = tensorType(op.getBias());
  if (bias.getRank() != 1 || bias.getElementType() != result.getElementType() ||
      !isOverLastDims(result, bias.getNumElements()))
    return op.emitOpError("needs a bias that is a vector over the result's last dimensions");
  return success();
}

/// The type that a reduction of `operand` over the contracted dimensions has; null if one of its labels is batch.
static RankedTensorType getReductionType(LibraryMatmulOp op, bool ofLhs) {
  ArrayRef<int64_t> own = ofLhs ? op.getLhsLabels() : op.getRhsLabels(),
                    other = ofLhs ? op.getRhsLabels() : op.getLhsLabels();
  SmallVector<int64_t> free;
  for (auto [label, size] : llvm::zip_equal(own, tensorType(ofLhs ? op.getLhs() : op.getRhs()).getShape())) {
    bool isShared = llvm::is_contained(other, label);
    if (isShared && llvm::is_contained(op.getResultLabels(), label)) return {};
    if (!isShared) free.push_back(size);
  }
  return RankedTensorType::get(free, tensorType(op.getResult()).getElementType());
}

LogicalResult LibraryMatmulOp::verify() {
  RankedTensorType result = tensorType(getResult());
  if (!mlir::sgd::mayMultiply(tensorType(getLhs()).getElementType(), tensorType(getRhs()).getElementType(),
                              result.getElementType()))
    return emitOpError("mixes element types");
  Epilogue epilogue = getEpilogue();
  bool hasGelu = epilogue.Has(EpilogueStep::kGelu), hasReduction = epilogue.HasReduction();
  // The second result is gelu's operand or the reduction.
  ::sgd::library::EpilogueCall call = {.has_bias = static_cast<bool>(getBias()),
                                       .has_aux = getPreActivation() || (getExtra() && hasGelu),
                                       .has_reduction = getExtra() && !hasGelu};
  if (failed(verifyContraction(*this)) || failed(verifyEpilogue(*this, call))) return failure();
  if (hasGelu && (!getExtra() || getPreActivation()))
    return emitOpError("needs a second result for gelu, and no pre-activation");
  if (getPreActivation() && tensorType(getPreActivation()) != result)
    return emitOpError("needs a pre-activation of the result's type");
  if (!getExtra()) return success();
  RankedTensorType extra = hasReduction ? getReductionType(*this, epilogue.Has(EpilogueStep::kLhsReduction)) : result;
  if (!extra) return emitOpError("has a reduction of an operand in batches");
  if (tensorType(getExtra()) != extra) return emitOpError() << "needs a second result of type " << extra;
  return success();
}

int64_t LibraryConvolutionOp::getLhsSize(int64_t label) { return getLabelSize(getLhsLabels(), getLhs(), label); }
int64_t LibraryConvolutionOp::getRhsSize(int64_t label) { return getLabelSize(getRhsLabels(), getRhs(), label); }
int64_t LibraryConvolutionOp::getResultSize(int64_t label) {
  return getLabelSize(getResultLabels(), getResult(), label);
}

LogicalResult LibraryConvolutionOp::verify() {
  if (failed(verifyConvolution(*this))) return failure();
  return verifyEpilogue(*this,
                        {.kind = ::sgd::library::CallKind::kConvolution, .has_bias = static_cast<bool>(getBias())});
}
