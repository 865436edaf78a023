// Fuses the reduction of an operand over the dimensions that a matmul of it contracts into the matmul: gradients of a
// bias and of the weights beside it.
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/kernels/epilogues/epilogues.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A sum of elements of `operand`, which may be widened before and narrowed again after.
struct OperandSum {
  ReduceOp reduce;
  Value operand;
  Value result;
};

std::optional<OperandSum> readSum(ReduceOp reduce) {
  if (reduce.getKind() != ReduceKind::Add || !isa<FloatType>(tensorType(reduce.getInput()).getElementType()))
    return std::nullopt;
  OperandSum sum{reduce, reduce.getInput(), reduce.getResult()};
  auto widening = sum.operand.getDefiningOp<arith::ExtFOp>();
  if (!widening) return sum;
  auto narrowing = reduce->hasOneUse() ? dyn_cast<arith::TruncFOp>(*reduce->user_begin()) : arith::TruncFOp();
  if (!narrowing || tensorType(narrowing.getOut()).getElementType() != tensorType(widening.getIn()).getElementType())
    return std::nullopt;
  sum.operand = widening.getIn();
  sum.result = narrowing.getOut();
  return sum;
}

/// Whether the library computes such a matmul with the reduction of an operand.
bool mayReduce(fusion::MatmulOp matmul, fusion::EpilogueStep reduction, const LibraryModel& libraries) {
  RankedTensorType lhs = tensorType(matmul.getLhs()), rhs = tensorType(matmul.getRhs()), result = matmul.getType();
  // Of one tensor with itself the reduced operand would be ambiguous.
  if (matmul.getLhs() == matmul.getRhs()) return false;
  auto shape = getContractionShape({matmul.getLhsLabels(), lhs.getShape()}, {matmul.getRhsLabels(), rhs.getShape()},
                                   {matmul.getResultLabels(), result.getShape()}, /*mayRepeat=*/false);
  return shape && libraries.takes({lhs.getElementType(),
                                   rhs.getElementType(),
                                   result.getElementType(),
                                   *shape,
                                   static_cast<bool>(matmul.getTf32()),
                                   {reduction}});
}

/// Whether the reduction is over the dimensions that `matmul` contracts of its operand, all the others being free. A
/// dimension of one element may be batch without a batch of matmuls.
bool sumsContracted(fusion::MatmulOp matmul, bool ofLhs, ReduceOp reduce) {
  ArrayRef<int64_t> own = ofLhs ? matmul.getLhsLabels() : matmul.getRhsLabels(),
                    other = ofLhs ? matmul.getRhsLabels() : matmul.getLhsLabels();
  for (auto [dim, label] : llvm::enumerate(own)) {
    bool isShared = llvm::is_contained(other, label);
    if (isShared && llvm::is_contained(matmul.getResultLabels(), label)) return false;
    if (isShared != llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(dim))) return false;
  }
  return true;
}

/// The position of one op for both: at the matmul, unless the reduction is needed before; null where neither position
/// will do.
Operation* getPlace(fusion::MatmulOp matmul, Value other, OperandSum sum) {
  Block* block = matmul->getBlock();
  bool isNeededBefore = llvm::any_of(sum.result.getUsers(), [&](Operation* user) {
    Operation* reader = block->findAncestorOpInBlock(*user);
    return reader && reader->isBeforeInBlock(matmul);
  });
  if (!isNeededBefore) return matmul;
  Operation* definition = other.getDefiningOp();
  bool isThere = !definition || definition->getBlock() != block || definition->isBeforeInBlock(sum.reduce);
  return isThere ? sum.reduce.getOperation() : nullptr;
}

/// Replaces the reduction and a matmul of its operand by one op, if there is such a matmul.
bool form(OperandSum sum, const LibraryModel& libraries) {
  for (Operation* user : sum.operand.getUsers()) {
    auto matmul = dyn_cast<fusion::MatmulOp>(user);
    if (!matmul || matmul->getBlock() != sum.reduce->getBlock()) continue;
    bool ofLhs = matmul.getLhs() == sum.operand;
    fusion::EpilogueStep reduction = ofLhs ? fusion::EpilogueStep::kLhsReduction : fusion::EpilogueStep::kRhsReduction;
    if (!mayReduce(matmul, reduction, libraries)) continue;
    Operation* place = getPlace(matmul, ofLhs ? matmul.getRhs() : matmul.getLhs(), sum);
    if (!place || !sumsContracted(matmul, ofLhs, sum.reduce)) continue;
    OpBuilder builder(place);
    auto op = createCall(builder, matmul, {}, {reduction}, sum.result.getType());
    matmul.getResult().replaceAllUsesWith(op.getResult());
    sum.result.replaceAllUsesWith(op.getExtra());
    matmul.erase();
    return true;
  }
  return false;
}

}  // namespace

void mlir::sgd::fuseReductions(Block& block, const LibraryModel& libraries) {
  SmallVector<OperandSum> sums;
  for (ReduceOp reduce : block.getOps<ReduceOp>())
    if (std::optional<OperandSum> sum = readSum(reduce)) sums.push_back(*sum);
  for (OperandSum sum : sums) {
    if (!form(sum, libraries)) continue;
    Operation *narrowing = sum.result.getDefiningOp(), *widening = sum.reduce.getInput().getDefiningOp();
    if (narrowing != sum.reduce) narrowing->erase();
    if (sum.reduce->use_empty()) sum.reduce->erase();
    if (isa_and_nonnull<arith::ExtFOp>(widening) && widening->use_empty()) widening->erase();
  }
}
