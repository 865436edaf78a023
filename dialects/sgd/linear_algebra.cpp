// The verifier compares every tensor with what the call's form says of it.
#include "dialects/sgd/linear_algebra.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;
using linear_algebra::Form;

#include "dialects/sgd/linear_algebra_enums.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/sgd/linear_algebra_ops.cpp.inc"

static_assert(getMaxEnumValForLinearAlgebraKind() + 1 == linear_algebra::kNumKinds);

static RankedTensorType getTensorType(ArrayRef<int64_t> batch, const linear_algebra::Tensor& tensor, Type element) {
  SmallVector<int64_t> shape(batch);
  for (const linear_algebra::Dim& dim : tensor.dims) shape.push_back(static_cast<int64_t>(dim.size));
  return RankedTensorType::get(shape, tensor.is_integer ? IntegerType::get(element.getContext(), 32) : element);
}

/// `form` with the sizes of an operand of `shape`.
static std::optional<Form> getTransformForm(Form form, ArrayRef<int64_t> shape) {
  if (form.Has(linear_algebra::kPairedOperand)) {
    if (shape.empty() || shape.back() != 2) return std::nullopt;
    shape = shape.drop_back();
  }
  unsigned dims = linear_algebra::DimsOf(form.kind, form.options);
  if (dims > 3 || shape.size() < dims) return std::nullopt;
  shape = shape.take_back(dims);
  form.n = shape.back();
  form.m = dims > 1 ? shape[dims - 2] : 1;
  form.k = dims > 2 ? shape[0] : 1;
  if (form.kind == linear_algebra::Kind::kInverseRealFft) {
    if (form.n == 0 || (form.n == 1 && !form.Has(linear_algebra::kOddLength))) return std::nullopt;
    form.n = 2 * (form.n - 1) + (form.Has(linear_algebra::kOddLength) ? 1 : 0);
  }
  return form;
}

/// How many leading dimensions of `main` are the batch.
static unsigned getBatchRank(LinearAlgebraKind kind, uint32_t options, RankedTensorType main) {
  unsigned pairs = (options & linear_algebra::kPairedOperand) != 0 ? 1 : 0;
  return main.getRank() - linear_algebra::DimsOf(static_cast<linear_algebra::Kind>(kind), options) - pairs;
}

std::optional<Form> mlir::sgd::getLinearAlgebraForm(LinearAlgebraKind kind, uint32_t options, TypeRange inputs) {
  Form form{static_cast<linear_algebra::Kind>(kind), options};
  linear_algebra::Operands operands = linear_algebra::OperandsOf(form.kind, options);
  if (inputs.size() != operands.count) return std::nullopt;
  auto main = cast<RankedTensorType>(inputs[operands.main]);
  if (!main.hasStaticShape()) return std::nullopt;
  if (linear_algebra::IsTransform(form.kind)) return getTransformForm(form, main.getShape());
  if (main.getRank() < 2) return std::nullopt;
  form.m = main.getShape().take_back(2)[0];
  form.n = main.getShape().back();
  if (operands.reflectors < 0) return form;
  auto reflectors = cast<RankedTensorType>(inputs[operands.reflectors]);
  if (reflectors.getRank() < 1 || !reflectors.hasStaticShape()) return std::nullopt;
  form.k = reflectors.getShape().back();
  return form;
}

Form mlir::sgd::getLinearAlgebraForm(LinearAlgebraOp op) {
  return *getLinearAlgebraForm(op.getKind(), getLinearAlgebraOptions(op), op.getInputs().getTypes());
}

ArrayRef<int64_t> mlir::sgd::getLinearAlgebraBatch(LinearAlgebraOp op) {
  uint32_t options = getLinearAlgebraOptions(op);
  unsigned main = linear_algebra::OperandsOf(static_cast<linear_algebra::Kind>(op.getKind()), options).main;
  auto type = cast<RankedTensorType>(op.getInputs()[main].getType());
  return type.getShape().take_front(getBatchRank(op.getKind(), options, type));
}

LinearAlgebraOp mlir::sgd::createLinearAlgebra(OpBuilder& builder, Location loc, LinearAlgebraKind kind,
                                               uint32_t options, ValueRange inputs) {
  std::optional<Form> form = getLinearAlgebraForm(kind, options, inputs.getTypes());
  SmallVector<Type> results;
  if (form && linear_algebra::WhyNot(*form).empty()) {
    auto main = cast<RankedTensorType>(inputs[linear_algebra::OperandsOf(form->kind, options).main].getType());
    results = getLinearAlgebraResultTypes(*form, main.getShape().take_front(getBatchRank(kind, options, main)),
                                          main.getElementType());
  }
  OperationState state(loc, LinearAlgebraOp::getOperationName());
  state.addOperands(inputs);
  state.addTypes(results);
  state.addAttribute("kind", LinearAlgebraKindAttr::get(builder.getContext(), kind));
  auto op = cast<LinearAlgebraOp>(builder.create(state));
  setLinearAlgebraOptions(op, options);
  return op;
}

SmallVector<Type> mlir::sgd::getLinearAlgebraResultTypes(const Form& form, ArrayRef<int64_t> batch, Type element) {
  SmallVector<Type> types;
  for (const linear_algebra::Tensor& output : linear_algebra::OutputsOf(form))
    types.push_back(getTensorType(batch, output, element));
  return types;
}

/// Whether the types are those of `tensors`, whatever their encodings.
static LogicalResult verifyTensors(StringRef what, TypeRange types, ArrayRef<linear_algebra::Tensor> tensors,
                                   ArrayRef<int64_t> batch, Type element,
                                   function_ref<InFlightDiagnostic()> emitError) {
  if (types.size() != tensors.size())
    return emitError() << "has " << types.size() << " " << what << "s; expected " << tensors.size() << "; give as many";
  for (auto [index, type, tensor] : llvm::enumerate(types, tensors)) {
    RankedTensorType expected = getTensorType(batch, tensor, element);
    auto actual = dyn_cast<RankedTensorType>(type);
    if (!actual || actual.getShape() != expected.getShape() || actual.getElementType() != expected.getElementType())
      return emitError() << "has " << type << " as " << what << " " << index << ", " << tensor.name << "; expected "
                         << expected << "; convert or reshape it";
  }
  return success();
}

LogicalResult mlir::sgd::verifyLinearAlgebra(LinearAlgebraKind kind, uint32_t options, TypeRange inputs,
                                             TypeRange results, function_ref<InFlightDiagnostic()> emitError) {
  std::optional<Form> form = getLinearAlgebraForm(kind, options, inputs);
  if (!form)
    return emitError() << "has other operands than " << stringifyLinearAlgebraKind(kind)
                       << " on a batch of matrices; expected its operands with equal leading dimensions; reshape them";
  if (std::string problem = linear_algebra::WhyNot(*form); !problem.empty())
    return emitError() << "is " << problem << "; expected shapes and options that it is defined for; correct them";
  auto main = cast<RankedTensorType>(inputs[linear_algebra::OperandsOf(form->kind, options).main]);
  Type element = main.getElementType();
  if (!element.isF32() && !element.isF64())
    return emitError() << "has elements of " << element << "; expected f32 or f64; convert them";
  ArrayRef<int64_t> batch = main.getShape().take_front(getBatchRank(kind, options, main));
  if (failed(verifyTensors("operand", inputs, linear_algebra::InputsOf(*form), batch, element, emitError)))
    return failure();
  return verifyTensors("result", results, linear_algebra::OutputsOf(*form), batch, element, emitError);
}

LogicalResult LinearAlgebraOp::verify() {
  return verifyLinearAlgebra(getKind(), getLinearAlgebraOptions(*this), getInputs().getTypes(), getResultTypes(),
                             [&] { return emitOpError(); });
}
