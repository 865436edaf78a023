// One function for each kind.
#include "passes/compress/compressed_bytes.h"

#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

std::optional<uint64_t> CompressedBytes::getReshardBytes(RankedTensorType from, RankedTensorType to) const {
  llvm::Expected<ReshardPlan> plan =
      planner.plan(from.getShape(), getElementBytes(from.getElementType()),
                   getShardState(mesh.getMesh(), getSharding(from)), getShardState(mesh.getMesh(), getSharding(to)));
  if (plan) return plan->sentBytes;
  llvm::consumeError(plan.takeError());
  return std::nullopt;
}

static RankedTensorType toBF16(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), BFloat16Type::get(type.getContext()), type.getEncoding());
}

/// The same reshard of narrower elements.
std::string CompressedBytes::chooseRounded(CompressedForm& form, RankedTensorType from) const {
  std::optional<uint64_t> sent = getReshardBytes(toBF16(from), toBF16(form.result));
  if (!sent) return "there is no way to reduce it";
  form.sentBytes = *sent;
  return "";
}

FailureOr<CompressedForm> CompressedBytes::choose(const CompressionSetting& setting, RankedTensorType from,
                                                  RankedTensorType to, std::string& why) const {
  CompressedForm form;
  form.kind = setting.kind;
  form.result = to;
  std::optional<uint64_t> whole = getReshardBytes(from, to);
  form.wholeBytes = whole.value_or(0);
  switch (setting.kind) {
    case CompressionKind::BF16:
      why = chooseRounded(form, from);
      break;
    case CompressionKind::Int8:
    case CompressionKind::PowerSGD:
    case CompressionKind::TopK:
      llvm_unreachable("no recipe asks for it");
  }
  if (!why.empty()) return failure();
  if (form.sentBytes < form.wholeBytes) return form;
  why = "compressed, a rank would send " + std::to_string(form.sentBytes) + " bytes instead of " +
        std::to_string(form.wholeBytes);
  return failure();
}
