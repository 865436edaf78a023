// Result dimensions are batch, lhs free, rhs free.
#include "passes/time/rings/matmul_blocks.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::sgd;

std::optional<FreeDim> FreeDim::ofOperand(DotGeneralOp dot, unsigned operand, int64_t dim) {
  if (dot.getLhs() == dot.getRhs()) return std::nullopt;
  SmallVector<int64_t> lhs = dot.getLhsFree(), rhs = dot.getRhsFree();
  SmallVector<int64_t>& free = operand == 0 ? lhs : rhs;
  auto found = llvm::find(free, dim);
  if (found == free.end()) return std::nullopt;
  int64_t before = dot.getLhsBatching().size() + (operand == 0 ? 0 : lhs.size());
  return FreeDim{dot, operand, dim, before + (found - free.begin())};
}

std::optional<FreeDim> FreeDim::ofResult(DotGeneralOp dot, int64_t resultDim) {
  for (unsigned operand : {0u, 1u})
    for (int64_t dim : operand == 0 ? dot.getLhsFree() : dot.getRhsFree()) {
      std::optional<FreeDim> free = ofOperand(dot, operand, dim);
      if (free && free->resultDim == resultDim) return free;
    }
  return std::nullopt;
}

Value FreeDim::multiply(OpBuilder& builder, Value block) const {
  IRMapping mapping;
  mapping.map(getOperand(), block);
  Operation* part = builder.clone(*DotGeneralOp(dot), mapping);
  RankedTensorType type = tensorType(part->getResult(0));
  SmallVector<int64_t> shape(type.getShape());
  shape[resultDim] = tensorType(block).getDimSize(dim);
  part->getResult(0).setType(type.clone(shape));
  return part->getResult(0);
}
