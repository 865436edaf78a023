// One function for each kind.
#include "passes/compress/compressed_bytes.h"

#include "passes/compress/block_layout.h"
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

/// The reduced value: with the group's axes behind those of the dimension where the reduction has them too, else whole.
/// Ranks must have equal shards.
std::string CompressedBytes::setResult(CompressedForm& form, RankedTensorType from) const {
  TensorAxes tensor = mesh.toTensorAxes(getSharding(from)), wanted = mesh.toTensorAxes(getSharding(form.result));
  AxisParts group = tensor.unreduced;
  tensor.unreduced.clear();
  for (auto [dim, size] : llvm::enumerate(from.getShape()))
    if (size % getGroupSize(tensor.dims[dim].axes) != 0) return "its shards are uneven";
  for (auto [dim, size] : llvm::enumerate(from.getShape())) {
    AxisParts axes = tensor.dims[dim].axes;
    for (const AxisPart& part : group) appendMerged(axes, part);
    if (wanted.dims[dim].axes != axes || size % getGroupSize(axes) != 0) continue;
    tensor.dims[dim].axes = axes;
    break;
  }
  form.result = withSharding(from, mesh.toAttr(tensor));
  return "";
}

/// [ranks of the group, ...], of which each rank has its own.
RankedTensorType CompressedBytes::getErrorType(RankedTensorType from) const {
  TensorAxes tensor = mesh.toTensorAxes(getSharding(from));
  AxisParts group = tensor.unreduced;
  tensor.unreduced.clear();
  tensor.dims.insert(tensor.dims.begin(), tensor.dims.front());
  tensor.dims.front().axes = group;
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin(), getGroupSize(group));
  return RankedTensorType::get(shape, from.getElementType(), mesh.toAttr(tensor));
}

/// Elements of a rank's shard.
static int64_t getLocalElements(RankedTensorType type, MeshAttr mesh) {
  int64_t elements = 1;
  for (int64_t size : getSharding(type).getLocalShape(type.getShape(), mesh)) elements *= size;
  return elements;
}

std::string CompressedBytes::chooseBlocks(CompressedForm& form, RankedTensorType from, int64_t mostBlock) const {
  if (std::string why = setResult(form, from); !why.empty()) return why;
  form.size = mostBlock;
  form.states.push_back({"error", getErrorType(from)});
  int64_t elements = getLocalElements(from, mesh.getMesh());
  bool isScattered = getLocalElements(form.result, mesh.getMesh()) != elements;
  int64_t ranks = getGroupSize(mesh.toTensorAxes(getSharding(from)).unreduced);
  form.sentBytes = getSentInBlocks(elements, ranks, mostBlock, isScattered);
  return "";
}

uint64_t CompressedBytes::getBucketBytes(ReshardOp reduction, uint64_t limit) const {
  if (limit != 0) return limit;
  return cost.getBucketBytes(mesh.toTensorAxes(getSharding(reduction.getInput().getType())).unreduced);
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
      why = chooseBlocks(form, from, setting.block);
      break;
    case CompressionKind::PowerSGD:
    case CompressionKind::TopK:
      llvm_unreachable("no recipe asks for it");
  }
  if (!why.empty()) return failure();
  std::optional<uint64_t> rest =
      getReshardBytes(form.result, to);  // the reduced value, where it is not sharded as asked
  form.sentBytes += rest.value_or(0);
  if (form.sentBytes < form.wholeBytes) return form;
  why = "compressed, a rank would send " + std::to_string(form.sentBytes) + " bytes instead of " +
        std::to_string(form.wholeBytes);
  return failure();
}
