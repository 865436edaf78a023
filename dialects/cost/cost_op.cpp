#include "dialects/cost/cost_op.h"

#include "dialects/sgd/tensor_layout.h"

using namespace mlir;
using namespace mlir::sgd;

#include "dialects/cost/cost_op.cpp.inc"

Precision mlir::sgd::getPrecision(Type elementType) {
  unsigned bits = elementType.isIntOrFloat() ? elementType.getIntOrFloatBitWidth() : 64;
  if (bits > 32) return Precision::Double;
  if (bits > 16) return Precision::Single;
  return bits > 8 ? Precision::Half : Precision::Quarter;
}

Work mlir::sgd::getMoves(ValueRange operands, ValueRange results) {
  Work work;
  for (Value operand : operands) work.readBytes += static_cast<double>(getByteSize(operand.getType()));
  for (Value result : results) work.writtenBytes += static_cast<double>(getByteSize(result.getType()));
  return work;
}

Work mlir::sgd::getWork(Operation* op) {
  auto model = dyn_cast<CostOpInterface>(op);
  return model ? model.getWork() : Work();
}

bool mlir::sgd::isFused(Operation* op) {
  auto model = dyn_cast<CostOpInterface>(op);
  return model && model.isFused();
}

std::optional<Exchange> mlir::sgd::getExchange(Operation* op) {
  auto model = dyn_cast<CostOpInterface>(op);
  return model ? model.getExchange() : std::nullopt;
}

Work& mlir::sgd::addMatmul(Work& work, Value operand, double count, double packed) {
  Precision precision = getPrecision(getElementTypeOrSelf(operand.getType()));
  return work.add(OperationKind::Matmul, precision, 2 * count).add(OperationKind::Packing, precision, packed);
}

double mlir::sgd::getSortOperations(double elements, int64_t length, int64_t comparison, int64_t numOperands) {
  int64_t merges = llvm::Log2_64_Ceil(std::max<int64_t>(length, 2));
  return elements * static_cast<double>((merges + 1) * (comparison + numOperands));
}

void mlir::sgd::registerCostModels(DialectRegistry& registry) {
  registerElementwiseWork(registry);
  registerContractionWork(registry);
  registerTensorWork(registry);
}
