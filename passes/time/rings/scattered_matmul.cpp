// At step k a rank adds to the block whose owner is k + 1 ahead, and hands it on to the rank behind: after n - 1 steps
// it is with its owner.
#include "passes/time/rings/scattered_matmul.h"

#include "dialects/sgd/tensor_type.h"
#include "passes/time/rings/near_compute.h"
#include "passes/time/rings/rotation.h"

using namespace mlir;
using namespace mlir::sgd;

std::optional<ScatteredMatmul> ScatteredMatmul::find(spmd::ReduceScatterOp scatter) {
  if (scatter.getInputs().size() != 1 || scatter.getKind() != ReduceKind::Add) return std::nullopt;
  auto dot = scatter.getInputs()[0].getDefiningOp<DotGeneralOp>();
  RankedTensorType type = tensorType(scatter.getResult(0));
  if (!dot || !dot->hasOneUse() || dot->getBlock() != scatter->getBlock() || type.getNumElements() == 0)
    return std::nullopt;
  if (!type.getElementType().isF32() && !type.getElementType().isF64()) return std::nullopt;
  if (!isNeededSoon(scatter.getResult(0))) return std::nullopt;
  std::optional<FreeDim> free = FreeDim::ofResult(dot, scatter.getDims()[0]);
  if (!free) return std::nullopt;
  return ScatteredMatmul{scatter, *free};
}

void ScatteredMatmul::apply() {
  OpBuilder builder(scatter);
  Rotation rotation(scatter, scatter.getAxes());
  Value operand = dot.getOperand();
  int64_t size = tensorType(operand).getDimSize(dot.dim) / rotation.getNumRanks();
  Value sum;
  for (int64_t step = 0; step < rotation.getNumRanks(); ++step) {
    Value before = sum ? rotation.rotate(builder, sum) : Value();
    Value place = rotation.getPlace(builder, step + 1, size);
    Value part = dot.multiply(builder, sliceBlock(builder, operand, dot.dim, place, size));
    sum = before ? arith::AddFOp::create(builder, scatter.getLoc(), before, part) : part;
  }
  scatter.getResult(0).replaceAllUsesWith(sum);
  scatter.erase();
  dot.dot.erase();
}
