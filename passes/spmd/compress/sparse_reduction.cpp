// The elements of largest magnitude of each rank, with their positions, go to all ranks, which add them up. The others
// wait for the next step.
#include "passes/spmd/compress/error_feedback.h"
#include "passes/spmd/compress/group_exchange.h"
#include "passes/spmd/compress/local_reductions.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class SparseReduction {
 public:
  SparseReduction(TensorMath& math, CompressedReductionOp op, const LocalisedOp& localised, unsigned input,
                  ReshardEmitter& emitter)
      : math(math),
        group(math, op, localised, input, emitter, /*steps=*/2),
        input(op.getInputs()[input]),
        error(op.getState()[input]),
        size(op.getSizes()[input]) {}

  void send();
  void finish(CompressedReductionOp op, unsigned index);

 private:
  TensorMath& math;
  GroupExchange group;
  Value input, error;
  int64_t size;             // elements that a rank sends
  Value rest;               // a vector: what it does not
  Value values, positions;  // of all ranks
};

}  // namespace

void SparseReduction::send() {
  Value due = math.reshape(addError(math, input, error), {tensorType(input).getNumElements()});
  // NaN is the largest of all: it is sent, and so not kept.
  Value chosen = math.findLargest(math.absolute(due), size);
  Value sent = math.take(due, chosen);
  rest = math.put(due, chosen, math.splat(0, sent), ScatterKind::Set);
  values = group.gather(sent);
  positions = group.gather(chosen);
}

void SparseReduction::finish(CompressedReductionOp op, unsigned index) {
  Value sum = math.put(math.splat(0, rest), positions, values, ScatterKind::Add);
  sum = math.convert(math.reshape(sum, tensorType(input).getShape()), tensorType(input).getElementType());
  op.getResults()[index].replaceAllUsesWith(sum);
  op.getNext()[index].replaceAllUsesWith(math.reshape(keepFinite(math, rest), tensorType(error).getShape()));
}

FailureOr<Value> mlir::sgd::localizeLargest(CompressedReductionOp op, const LocalisedOp& localised,
                                            ReshardEmitter& emitter) {
  OpBuilder builder(op);
  TensorMath math(builder, op.getLoc());
  std::vector<SparseReduction> reductions;
  for (unsigned input = 0; input < op.getInputs().size(); ++input)
    reductions.emplace_back(math, op, localised, input, emitter);
  for (SparseReduction& reduction : reductions) reduction.send();
  for (auto [index, reduction] : llvm::enumerate(reductions)) reduction.finish(op, index);
  op.erase();
  return Value();
}
