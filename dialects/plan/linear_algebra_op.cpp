// Every buffer holds the batch's tensors, and the workspace all lanes.
#include "dialects/plan/linear_algebra.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::plan;
namespace linear_algebra = ::sgd::linear_algebra;

#define GET_OP_CLASSES
#include "dialects/plan/linear_algebra_ops.cpp.inc"

static MemRefType typeOf(Value buffer) { return cast<MemRefType>(buffer.getType()); }

linear_algebra::Form LinearAlgebraOp::getForm() {
  ArrayRef<int64_t> sizes = getSizes();
  return {static_cast<linear_algebra::Kind>(getKind()), mlir::sgd::getLinearAlgebraOptions(*this),
          static_cast<uint64_t>(sizes[0]), static_cast<uint64_t>(sizes[1]), static_cast<uint64_t>(sizes[2])};
}

static LogicalResult verifyBuffers(LinearAlgebraOp op, StringRef what, ValueRange buffers,
                                   ArrayRef<linear_algebra::Tensor> tensors, Type element) {
  if (buffers.size() != tensors.size())
    return op.emitOpError() << "has " << buffers.size() << " " << what << "s, expected " << tensors.size();
  for (auto [buffer, tensor] : llvm::zip(buffers, tensors)) {
    auto elements = static_cast<int64_t>(op.getBatch() * tensor.Elements());
    bool isOfType =
        tensor.is_integer ? typeOf(buffer).getElementType().isInteger(32) : typeOf(buffer).getElementType() == element;
    if (!isOfType || typeOf(buffer).getNumElements() != elements)
      return op.emitOpError() << "needs " << elements << " elements as the " << what << " '" << tensor.name << "', not "
                              << buffer.getType();
  }
  return success();
}

LogicalResult LinearAlgebraOp::verify() {
  if (getSizes().size() != 3 || llvm::any_of(getSizes(), [](int64_t size) { return size < 0; }) ||
      static_cast<int64_t>(getBatch()) < 0)
    return emitOpError("needs a batch and three sizes that are not negative");
  linear_algebra::Form form = getForm();
  if (std::string problem = linear_algebra::WhyNot(form); !problem.empty()) return emitOpError() << "is " << problem;
  unsigned main = linear_algebra::OperandsOf(form.kind, form.options).main;
  if (getInputs().size() <= main) return emitOpError("lacks operands");
  Type element = typeOf(getInputs()[main]).getElementType();
  if (!element.isF32() && !element.isF64()) return emitOpError("is of f32 and f64 alone");
  if (failed(verifyBuffers(*this, "operand", getInputs(), linear_algebra::InputsOf(form), element)) ||
      failed(verifyBuffers(*this, "result", getOutputs(), linear_algebra::OutputsOf(form), element)))
    return failure();
  if (getLanes() < 1) return emitOpError("needs a lane");
  uint64_t bytes = linear_algebra::WorkspaceOf(form).Bytes(getElementBytes(element)) * getLanes();
  uint64_t given = getWorkspace() ? static_cast<uint64_t>(getByteSize(typeOf(getWorkspace()))) : 0;
  if (given < bytes) return emitOpError() << "needs a workspace of " << bytes << " bytes, not of " << given;
  return success();
}
