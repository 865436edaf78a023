// Which lists of epilogues there are, and the operands and results that each entry needs.
#include "dialects/fusion/library_calls.h"

#include "dialects/fusion/verify_labels.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::fusion;
using sgd::tensorType;

#include "dialects/fusion/library_enums.cpp.inc"

static ParseResult parseEpilogue(OpAsmParser& parser, DenseI32ArrayAttr& epilogue) {
  SmallVector<int32_t> kinds;
  auto parseKind = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name)) return failure();
    std::optional<Epilogue> kind = symbolizeEpilogue(name);
    if (!kind) return parser.emitError(loc) << "'" << name << "' is no epilogue; expected residual, bias, relu, ...";
    kinds.push_back(static_cast<int32_t>(*kind));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseKind)) return failure();
  epilogue = parser.getBuilder().getDenseI32ArrayAttr(kinds);
  return success();
}

static void printEpilogue(OpAsmPrinter& printer, Operation*, DenseI32ArrayAttr epilogue) {
  printer << "[";
  llvm::interleaveComma(epilogue.asArrayRef(), printer,
                        [&](int32_t kind) { printer << stringifyEpilogue(static_cast<Epilogue>(kind)); });
  printer << "]";
}

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

/// A list in the order of its kinds, each of them once, one activation at most; operands are there for their entries
/// alone.
template <typename OpTy>
static LogicalResult verifyEpilogue(OpTy op) {
  SmallVector<Epilogue, 2> list = op.getEpilogueList();
  if (list.empty()) return op.emitOpError("has no epilogue; expected a plain contraction or convolution then");
  auto isActivation = [](Epilogue kind) { return kind >= Epilogue::Relu; };
  for (Epilogue kind : list)
    if (!symbolizeEpilogue(static_cast<uint32_t>(kind))) return op.emitOpError("has an epilogue of no known kind");
  for (auto [kind, next] : llvm::zip(list, ArrayRef(list).drop_front()))
    if (next <= kind || isActivation(kind))
      return op.emitOpError() << "has " << stringifyEpilogue(next) << " after " << stringifyEpilogue(kind)
                              << "; expected residual, bias and then one of the others";
  RankedTensorType result = tensorType(op.getResult());
  if (op.hasEpilogue(Epilogue::Residual) != static_cast<bool>(op.getResidual()) ||
      op.hasEpilogue(Epilogue::Bias) != static_cast<bool>(op.getBias()))
    return op.emitOpError("needs an operand for residual and for bias, and none without them");
  if (op.getResidual() && tensorType(op.getResidual()) != result)
    return op.emitOpError("needs a residual of the result's type");
  if (!op.getBias()) return success();
  RankedTensorType bias = tensorType(op.getBias());
  if (bias.getRank() != 1 || bias.getElementType() != result.getElementType() ||
      !isOverLastDims(result, bias.getNumElements()))
    return op.emitOpError("needs a bias that is a vector over the result's last dimensions");
  return success();
}

/// What sums over the contracted dimensions leave of `operand`; null where a label of it is batch.
static RankedTensorType getSumsType(LibraryMatmulOp op, bool ofLhs) {
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
  if (!sgd::mayMultiply(tensorType(getLhs()).getElementType(), tensorType(getRhs()).getElementType(),
                        result.getElementType()))
    return emitOpError("mixes element types");
  if (failed(verifyContraction(*this)) || failed(verifyEpilogue(*this))) return failure();
  bool ofLhs = hasEpilogue(Epilogue::SumsOfLhs), hasSums = ofLhs || hasEpilogue(Epilogue::SumsOfRhs);
  if (hasSums && getEpilogue().size() != 1) return emitOpError("has sums of an operand with another epilogue");
  if ((hasSums || hasEpilogue(Epilogue::Gelu)) != static_cast<bool>(getExtra()))
    return emitOpError("needs a second result for gelu and for sums, and none without them");
  if (hasEpilogue(Epilogue::GeluGradient) != static_cast<bool>(getPreActivation()))
    return emitOpError("needs a pre-activation for gelu_gradient, and none without it");
  if (getPreActivation() && tensorType(getPreActivation()) != result)
    return emitOpError("needs a pre-activation of the result's type");
  if (!getExtra()) return success();
  RankedTensorType extra = hasSums ? getSumsType(*this, ofLhs) : result;
  if (!extra) return emitOpError("has sums of an operand in batches");
  if (tensorType(getExtra()) != extra) return emitOpError() << "needs a second result of type " << extra;
  return success();
}

int64_t LibraryConvolutionOp::getLhsSize(int64_t label) { return getLabelSize(getLhsLabels(), getLhs(), label); }
int64_t LibraryConvolutionOp::getRhsSize(int64_t label) { return getLabelSize(getRhsLabels(), getRhs(), label); }
int64_t LibraryConvolutionOp::getResultSize(int64_t label) {
  return getLabelSize(getResultLabels(), getResult(), label);
}

LogicalResult LibraryConvolutionOp::verify() {
  if (failed(verifyConvolution(*this)) || failed(verifyEpilogue(*this))) return failure();
  for (Epilogue kind : getEpilogueList())
    if (kind > Epilogue::Relu) return emitOpError() << "cannot have " << stringifyEpilogue(kind);
  return success();
}
