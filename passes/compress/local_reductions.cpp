// Compressed reductions of one rank: which file writes which kind.
#include "passes/compress/local_reductions.h"

#include "passes/compress/passes.h"
#include "passes/partition/source_line.h"

using namespace mlir;
using namespace mlir::sgd;

Explanation mlir::sgd::explainReduction(CompressedReductionOp op, const LocalisedOp& localised) {
  Explanation explanation;
  llvm::raw_string_ostream(explanation.tensor) << withSharding(localised.globalOperands[0], {});
  explanation.cause = MovementCause::Producer;
  if (Operation* producer = op.getInput().getDefiningOp()) explanation.op = producer->getName().getStringRef().str();
  explanation.source = getSourceLine(op.getLoc());
  return explanation;
}

/// Ranks round what they send; sums of bf16 are taken in f32.
static FailureOr<Value> localizeRounded(CompressedReductionOp op, const LocalisedOp& localised,
                                        ReshardEmitter& emitter) {
  OpBuilder builder(op);
  auto round = [&](RankedTensorType type) {
    return RankedTensorType::get(type.getShape(), builder.getBF16Type(), type.getEncoding());
  };
  Value input = op.getInput();
  Value rounded = arith::TruncFOp::create(builder, op.getLoc(), round(cast<RankedTensorType>(input.getType())), input);
  FailureOr<Value> sum = emitter.emit(builder, op.getLoc(), rounded, round(localised.globalOperands[0]),
                                      round(localised.globalResults[0]), explainReduction(op, localised));
  if (failed(sum)) return failure();
  Value result = arith::ExtFOp::create(builder, op.getLoc(), localised.localResults[0], *sum);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return result;
}

static FailureOr<Value> localizeReduction(CompressedReductionOp op, const LocalisedOp& localised,
                                          ReshardEmitter& emitter) {
  switch (op.getKind()) {
    case CompressionKind::BF16:
      return localizeRounded(op, localised, emitter);
    case CompressionKind::Int8:
    case CompressionKind::PowerSGD:
    case CompressionKind::TopK:
      break;
  }
  return op.emitOpError("is of a kind that cannot be computed");
}

void mlir::sgd::registerCompressedReductions(DialectRegistry& registry) {
  registry.addExtension(
      +[](MLIRContext* context, SgdDialect*) { attachLocalRule<CompressedReductionOp, localizeReduction>(*context); });
}
