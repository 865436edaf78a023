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

std::optional<Form> mlir::sgd::getLinearAlgebraForm(LinearAlgebraKind kind, uint32_t options, TypeRange inputs) {
  Form form{static_cast<linear_algebra::Kind>(kind), options};
  linear_algebra::Operands operands = linear_algebra::OperandsOf(form.kind);
  if (inputs.size() != operands.count) return std::nullopt;
  auto main = cast<RankedTensorType>(inputs[operands.main]);
  if (main.getRank() < 2 || !main.hasStaticShape()) return std::nullopt;
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
  unsigned main = linear_algebra::OperandsOf(static_cast<linear_algebra::Kind>(op.getKind())).main;
  return cast<RankedTensorType>(op.getInputs()[main].getType()).getShape().drop_back(2);
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
    return emitError() << "has " << types.size() << " " << what << "s, expected " << tensors.size();
  for (auto [index, type, tensor] : llvm::enumerate(types, tensors)) {
    RankedTensorType expected = getTensorType(batch, tensor, element);
    auto actual = dyn_cast<RankedTensorType>(type);
    if (!actual || actual.getShape() != expected.getShape() || actual.getElementType() != expected.getElementType())
      return emitError() << "has " << type << " as " << what << " " << index << ", expected " << expected << ": "
                         << tensor.name;
  }
  return success();
}

LogicalResult mlir::sgd::verifyLinearAlgebra(LinearAlgebraKind kind, uint32_t options, TypeRange inputs,
                                             TypeRange results, function_ref<InFlightDiagnostic()> emitError) {
  std::optional<Form> form = getLinearAlgebraForm(kind, options, inputs);
  if (!form)
    return emitError() << "has other operands than " << stringifyLinearAlgebraKind(kind) << " on a batch of matrices";
  if (std::string problem = linear_algebra::WhyNot(*form); !problem.empty()) return emitError() << "is " << problem;
  auto main = cast<RankedTensorType>(inputs[linear_algebra::OperandsOf(form->kind).main]);
  Type element = main.getElementType();
  if (!element.isF32() && !element.isF64()) return emitError() << "is of f32 and f64 alone, not of " << element;
  ArrayRef<int64_t> batch = main.getShape().drop_back(2);
  if (failed(verifyTensors("operand", inputs, linear_algebra::InputsOf(*form), batch, element, emitError)))
    return failure();
  return verifyTensors("result", results, linear_algebra::OutputsOf(*form), batch, element, emitError);
}

LogicalResult LinearAlgebraOp::verify() {
  return verifyLinearAlgebra(getKind(), getLinearAlgebraOptions(*this), getInputs().getTypes(), getResultTypes(),
                             [&] { return emitOpError(); });
}
