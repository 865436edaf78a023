// PowerSGD (Vogels, Karimireddy, Jaggi, 2019): one step of a power iteration, which begins with the right factor of the
// step before. Ranks add up M Q, make its columns P orthonormal, and add up M^T P, which is the next Q; the sum of all
// M is about P Q^T. The rest is shared equally by the errors of all ranks.
#include "passes/spmd/compress/error_feedback.h"
#include "passes/spmd/compress/group_exchange.h"
#include "passes/spmd/compress/local_reductions.h"
#include "passes/spmd/compress/matrix_form.h"
#include "passes/spmd/compress/orthogonal_columns.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class LowRankReduction {
 public:
  LowRankReduction(TensorMath& math, CompressedReductionOp op, const LocalisedOp& localised, unsigned index,
                   ReshardEmitter& emitter)
      : math(math),
        group(math, op, localised, index, emitter, /*steps=*/2),
        input(op.getInputs()[index]),
        error(op.getState()[2 * index]),
        factor(op.getState()[2 * index + 1]),
        form(MatrixForm::get(tensorType(input).getShape())),
        rank(op.getSizes()[index]) {}

  /// The sum of M Q.
  Value sendLeft();
  /// Adds up M^T P.
  void sendRight(Value orthonormal);
  void finish(CompressedReductionOp op, unsigned index);

 private:
  Value getStart();

  TensorMath& math;
  GroupExchange group;
  Value input, error, factor;
  MatrixForm form;
  int64_t rank;
  Value matrix, left, right;  // M, P and Q
};

}  // namespace

/// The factor of the step before. Zeros, of the first step, would stay zeros: numbers between -1 and 1 instead, the
/// same on all ranks and in all runs.
Value LowRankReduction::getStart() {
  Value last = math.reshape(factor, {form.columns, rank});
  Value largest = math.reduce(math.absolute(last), ReduceKind::Max, {0, 1});
  Value isNew = math.isLess(largest, math.splat(1e-30, largest));
  Value random = math.reshape(math.random(form.columns * rank), {form.columns, rank});
  return math.select(math.broadcast(isNew, {}, {form.columns, rank}), random, last);
}

Value LowRankReduction::sendLeft() {
  matrix = math.reshape(addError(math, input, error), {form.rows, form.columns});
  return group.addUp(math.dot(matrix, getStart(), 1, 0));
}

void LowRankReduction::sendRight(Value orthonormal) {
  left = orthonormal;
  right = group.addUp(math.dot(matrix, left, 0, 0));
}

void LowRankReduction::finish(CompressedReductionOp op, unsigned index) {
  Value sum = math.dot(left, right, 1, 1);
  Value share = math.multiply(sum, math.splat(1.0 / static_cast<double>(group.getSize()), sum));
  Value rest = keepFinite(math, math.subtract(matrix, share));
  sum = math.convert(math.reshape(sum, tensorType(input).getShape()), tensorType(input).getElementType());
  op.getResults()[index].replaceAllUsesWith(sum);
  op.getNext()[2 * index].replaceAllUsesWith(math.reshape(rest, tensorType(error).getShape()));
  op.getNext()[2 * index + 1].replaceAllUsesWith(math.reshape(keepFinite(math, right), tensorType(factor).getShape()));
}

FailureOr<Value> mlir::sgd::localizeLowRank(CompressedReductionOp op, const LocalisedOp& localised,
                                            ReshardEmitter& emitter) {
  OpBuilder builder(op);
  TensorMath math(builder, op.getLoc());
  std::vector<LowRankReduction> reductions;
  for (unsigned input = 0; input < op.getInputs().size(); ++input)
    reductions.emplace_back(math, op, localised, input, emitter);
  SmallVector<Value> lefts;
  for (LowRankReduction& reduction : reductions) lefts.push_back(reduction.sendLeft());
  lefts = makeOrthonormal(math, lefts);
  for (auto [reduction, left] : llvm::zip(reductions, lefts)) reduction.sendRight(left);
  for (auto [index, reduction] : llvm::enumerate(reductions)) reduction.finish(op, index);
  op.erase();
  return Value();
}
