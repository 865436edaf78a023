// Verifier of plan.convolution: no window and no result lies outside of its buffer.
#include "dialects/plan/plan_dialect.h"
#include "dialects/plan/verify_reach.h"
#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::plan;

static LogicalResult verifyOperand(ConvolutionOp op, StringRef name, Value buffer, SmallVector<int64_t> sizes,
                                   ArrayRef<int64_t> spatial, ArrayRef<int64_t> strides) {
  sizes.append(spatial.begin(), spatial.end());
  return verifyReach(op, name, buffer, sizes, strides);
}

LogicalResult ConvolutionOp::verify() {
  if (getSizes().size() != 4) return emitOpError("needs sizes of n, g, c and f");
  for (ArrayRef<int64_t> list : {getOutputs(), getKernels(), getStrides(), getDilations(), getLow()})
    if (list.size() != getInputs().size()) return emitOpError("lists differ in the number of spatial dimensions");
  for (ArrayRef<int64_t> list : {getSizes(), getInputs(), getOutputs(), getKernels()})
    if (llvm::any_of(list, [](int64_t size) { return size < 0; })) return emitOpError("has a negative size");
  if (llvm::any_of(getStrides(), [](int64_t stride) { return stride < 1; }) || llvm::is_contained(getDilations(), 0))
    return emitOpError("has a stride below 1 or a dilation of 0");
  if (getLhsDilations() && (getLhsDilations()->size() != getInputs().size() ||
                            llvm::any_of(*getLhsDilations(), [](int64_t dilation) { return dilation < 1; })))
    return emitOpError("needs a positive dilation of the lhs for each spatial dimension, or none");
  Type element = getLhs().getType().getElementType(), sum = getResult().getType().getElementType();
  if (getRhs().getType().getElementType() != element || !mlir::sgd::isReducedType(sum, element))
    return emitOpError(
        "mixes element types; expected operands of one type and a result of it or of their accumulators");
  int64_t n = getSizes()[0], g = getSizes()[1], c = getSizes()[2], f = getSizes()[3];
  if (failed(verifyOperand(*this, "lhs", getLhs(), {n, g, c}, getInputs(), getLhsStrides())) ||
      failed(verifyOperand(*this, "rhs", getRhs(), {g, c, f}, getKernels(), getRhsStrides())) ||
      failed(verifyOperand(*this, "result", getResult(), {n, g, f}, getOutputs(), getResultStrides())))
    return failure();
  std::string fault = FaultOf(
      getEpilogue(), {.kind = ::sgd::library::CallKind::kConvolution, .has_bias = static_cast<bool>(getBias())});
  if (!fault.empty()) return emitOpError("has ") << fault;
  if (getBias() && (getBias().getType().getNumElements() != g * f || getBias().getType().getElementType() != sum))
    return emitOpError() << "needs a bias of " << g * f << " elements of the result's type";
  return success();
}

void ConvolutionOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& list) {
  EffectBuilder effects(list);
  for (OpOperand* factor : {&getLhsMutable(), &getRhsMutable()}) effects.read(*factor);
  effects.read(getBiasMutable());
  if (getEpilogue().Has(EpilogueStep::kResidual)) effects.read(getResultMutable());
  // Elements of the result are written once each: as many as it has are all.
  int64_t written = getSizes()[0] * getSizes()[1] * getSizes()[3] * ShapedType::getNumElements(getOutputs());
  effects.write(getResultMutable(), written == getResult().getType().getNumElements());
  effects.write(getWorkspaceMutable());
}
