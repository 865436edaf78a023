// One case per kind of call in each function.
#include "passes/kernels/epilogues/library_candidate.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

LibraryCandidate::LibraryCandidate(Operation* op, const LibraryModel& libraries) : op(op), libraries(libraries) {
  if (auto matmul = dyn_cast<fusion::MatmulOp>(op)) prepare(matmul);
  if (auto convolution = dyn_cast<fusion::ConvolutionOp>(op)) prepare(convolution);
}

bool LibraryCandidate::isTaken(const fusion::Epilogue& epilogue) const {
  if (matmul) {
    MatmulCall call = *matmul;
    call.epilogue = epilogue;
    return libraries.takes(call);
  }
  ConvolutionCall call = *convolution;
  call.epilogue = epilogue;
  return libraries.takes(call);
}

Value LibraryCandidate::create(OpBuilder& builder, const EpilogueOperands& operands,
                               const fusion::Epilogue& epilogue) const {
  if (auto matmul = dyn_cast<fusion::MatmulOp>(op)) return createCall(builder, matmul, operands, epilogue).getResult();
  return createCall(builder, cast<fusion::ConvolutionOp>(op), operands, epilogue).getResult();
}

void LibraryCandidate::prepare(fusion::MatmulOp op) {
  RankedTensorType lhs = tensorType(op.getLhs()), rhs = tensorType(op.getRhs()), result = op.getType();
  // Batched matmuls are left to tiles where there are any.
  auto isBatch = [&](int64_t label) {
    return llvm::is_contained(op.getLhsLabels(), label) && llvm::is_contained(op.getRhsLabels(), label);
  };
  if (libraries.getTileFlopsPerByte())
    for (auto [label, size] : llvm::zip(op.getResultLabels(), result.getShape()))
      if (size > 1 && isBatch(label)) return;
  std::optional<ContractionShape> shape =
      getContractionShape({op.getLhsLabels(), lhs.getShape()}, {op.getRhsLabels(), rhs.getShape()},
                          {op.getResultLabels(), result.getShape()}, /*mayRepeat=*/false, libraries.getMatmulLimits());
  if (shape)
    matmul = MatmulCall{lhs.getElementType(),
                        rhs.getElementType(),
                        result.getElementType(),
                        *shape,
                        static_cast<bool>(op.getTf32()),
                        {}};
}

void LibraryCandidate::prepare(fusion::ConvolutionOp op) {
  bool isDilated = llvm::any_of(op.getLhsDilations(), [](int64_t by) { return by != 1; });
  if (!isDilated || libraries.readsDilated()) convolution = getConvolutionCall(op);
}

int64_t LibraryCandidate::getMatmulColumns() const {
  const ContractionShape& shape = matmul->shape;
  auto isMultiple = [&](int64_t stride) { return stride % shape.n == 0; };
  bool isRowMajor = shape.cN == 1 && (shape.m == 1 || isMultiple(shape.cM)) && llvm::all_of(shape.cBatch, isMultiple);
  return isRowMajor ? shape.n : 0;
}

int64_t LibraryCandidate::getConvolutionColumns() const {
  const ConvolutionCall& call = *convolution;
  int64_t columns = call.groups.size * call.outputs.size;
  auto isMultiple = [&](const auto& dim) { return dim.result % columns == 0; };
  bool isInnermost = (call.outputs.size == 1 || call.outputs.result == 1) &&
                     (call.groups.size == 1 || call.groups.result == call.outputs.size);
  return isInnermost && isMultiple(call.batch) && llvm::all_of(call.windows, isMultiple) ? columns : 0;
}
