// Compressed reductions of one rank: which file writes which kind.
#include "passes/spmd/compress/local_reductions.h"

#include "passes/spmd/compress/passes.h"

using namespace mlir;
using namespace mlir::sgd;

Decision mlir::sgd::explainReduction(CompressedReductionOp op, const LocalisedOp& localised, unsigned input) {
  Decision decision = Decision::at(DecisionKind::Movement, op.getInputs()[input].getLoc());
  llvm::raw_string_ostream(decision.subject) << withSharding(localised.globalOperands[input], {});
  decision.movement = Movement{.cause = MovementCause::Producer};
  Operation* producer = op.getInputs()[input].getDefiningOp();
  while (isa_and_nonnull<TransposeOp>(producer)) producer = producer->getOperand(0).getDefiningOp();
  if (producer) decision.movement->op = producer->getName().getStringRef().str();
  return decision;
}

/// Ranks round what they send; sums of bf16 are taken in f32.
static FailureOr<Value> localizeRounded(CompressedReductionOp op, const LocalisedOp& localised,
                                        ReshardEmitter& emitter) {
  OpBuilder builder(op);
  auto round = [&](RankedTensorType type) {
    return RankedTensorType::get(type.getShape(), builder.getBF16Type(), type.getEncoding());
  };
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    Value rounded =
        arith::TruncFOp::create(builder, op.getLoc(), round(cast<RankedTensorType>(input.getType())), input);
    FailureOr<Value> sum = emitter.emit(builder, op.getLoc(), rounded, round(localised.globalOperands[index]),
                                        round(localised.globalResults[index]), explainReduction(op, localised, index));
    if (failed(sum)) return failure();
    Value result = arith::ExtFOp::create(builder, op.getLoc(), localised.localResults[index], *sum);
    op.getResults()[index].replaceAllUsesWith(result);
  }
  op.erase();
  return Value();
}

static FailureOr<Value> localizeReduction(CompressedReductionOp op, const LocalisedOp& localised,
                                          ReshardEmitter& emitter) {
  switch (op.getKind()) {
    case CompressionKind::BF16:
      return localizeRounded(op, localised, emitter);
    case CompressionKind::Int8:
      return localizeInBlocks(op, localised, emitter);
    case CompressionKind::PowerSGD:
      return localizeLowRank(op, localised, emitter);
    case CompressionKind::TopK:
      return localizeLargest(op, localised, emitter);
  }
  llvm_unreachable("all kinds are handled");
}

void mlir::sgd::registerCompressedReductions(DialectRegistry& registry) {
  registry.addExtension(
      +[](MLIRContext* context, SgdDialect*) { attachLocalRule<CompressedReductionOp, localizeReduction>(*context); });
}
