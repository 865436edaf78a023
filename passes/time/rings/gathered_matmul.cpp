// At step k a rank has the block of the rank that is k ahead.
#include "passes/time/rings/gathered_matmul.h"

#include "dialects/sgd/tensor_type.h"
#include "passes/time/rings/near_compute.h"
#include "passes/time/rings/rotation.h"

using namespace mlir;
using namespace mlir::sgd;

std::optional<GatheredMatmul> GatheredMatmul::find(spmd::AllGatherOp gather) {
  if (gather.getInputs().size() != 1 || tensorType(gather.getResult(0)).getNumElements() == 0) return std::nullopt;
  if (!isComputedLate(gather.getInputs()[0])) return std::nullopt;
  GatheredMatmul found{gather, {}, false};
  SmallVector<Operation*> readers(gather->getUsers());
  llvm::sort(readers, [](Operation* a, Operation* b) { return a != b && a->isBeforeInBlock(b); });
  for (Operation* reader : readers) {
    if (reader->getBlock() != gather->getBlock()) return std::nullopt;
    auto dot = dyn_cast<DotGeneralOp>(reader);
    unsigned operand = dot && dot.getRhs() == gather.getResult(0);
    std::optional<FreeDim> free = dot ? FreeDim::ofOperand(dot, operand, gather.getDims()[0]) : std::nullopt;
    if (free)
      found.dots.push_back(*free);
    else if (found.dots.empty())
      return std::nullopt;
    else
      found.isReadWhole = true;
  }
  if (found.dots.empty()) return std::nullopt;
  // All begin where the first one stands.
  for (FreeDim& free : found.dots) {
    Operation* other = free.dot->getOperand(1 - free.operand).getDefiningOp();
    if (other && other->getBlock() == gather->getBlock() && !other->isBeforeInBlock(found.dots[0].dot))
      return std::nullopt;
  }
  return found;
}

void GatheredMatmul::apply() {
  OpBuilder builder(dots[0].dot);
  Rotation rotation(gather, gather.getAxes());
  Value block = gather.getInputs()[0];
  int64_t dim = gather.getDims()[0], size = tensorType(block).getDimSize(dim);
  SmallVector<Value> results;
  for (const FreeDim& free : dots)
    results.push_back(createZeros(builder, gather.getLoc(), tensorType(DotGeneralOp(free.dot).getResult())));
  Value whole = isReadWhole ? createZeros(builder, gather.getLoc(), tensorType(gather.getResult(0))) : Value();
  for (int64_t step = 0; step < rotation.getNumRanks(); ++step) {
    Value next = step + 1 < rotation.getNumRanks() ? rotation.rotate(builder, block) : Value();
    Value place = rotation.getPlace(builder, step, size);
    for (auto [free, result] : llvm::zip(dots, results))
      result = updateBlock(builder, result, free.resultDim, place, free.multiply(builder, block));
    if (whole) whole = updateBlock(builder, whole, dim, place, block);
    block = next;
  }
  for (auto [free, result] : llvm::zip(dots, results)) {
    free.dot.getResult().replaceAllUsesWith(result);
    free.dot.erase();
  }
  if (whole) gather.getResult(0).replaceAllUsesWith(whole);
  gather.erase();
}
