// One function for each kind.
#include "passes/spmd/compress/compressed_bytes.h"

#include <cmath>

#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/compress/block_layout.h"
#include "passes/spmd/compress/matrix_form.h"

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

/// The reduced value, not sharded further: a rank's shard of it costs nothing. Padding of uneven shards is anything.
std::string CompressedBytes::setWhole(CompressedForm& form, RankedTensorType from) const {
  TensorAxes tensor = mesh.toTensorAxes(getSharding(from));
  tensor.unreduced.clear();
  for (auto [dim, size] : llvm::enumerate(from.getShape()))
    if (size % getGroupSize(tensor.dims[dim].axes) != 0) return "its shards are uneven";
  form.result = withSharding(from, mesh.toAttr(tensor));
  return "";
}

/// The reduced value: with the group's axes behind those of the dimension where the reduction has them too, else whole.
std::string CompressedBytes::setResult(CompressedForm& form, RankedTensorType from) const {
  TensorAxes wanted = mesh.toTensorAxes(getSharding(form.result));
  if (std::string why = setWhole(form, from); !why.empty()) return why;
  TensorAxes tensor = mesh.toTensorAxes(getSharding(form.result));
  AxisParts group = mesh.toTensorAxes(getSharding(from)).unreduced;
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
  return RankedTensorType::get(shape, Float32Type::get(from.getContext()), mesh.toAttr(tensor));
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

/// Of each shard of the gradient its own, the same on all ranks of the group.
RankedTensorType CompressedBytes::getFactorType(RankedTensorType from, int64_t columns, int64_t rank) const {
  TensorAxes tensor = mesh.toTensorAxes(getSharding(from));
  AxisParts shards;
  for (const auto& dim : tensor.dims)
    for (const AxisPart& part : dim.axes) appendMerged(shards, part);
  TensorAxes factor = tensor;
  factor.unreduced.clear();
  factor.dims.assign(3, tensor.dims.front());
  factor.dims[0].axes = shards;
  factor.dims[1].axes.clear();
  factor.dims[2].axes.clear();
  return RankedTensorType::get({getGroupSize(shards), columns, rank}, Float32Type::get(from.getContext()),
                               mesh.toAttr(factor));
}

std::string CompressedBytes::chooseFactors(CompressedForm& form, RankedTensorType from, int64_t rank) const {
  if (std::string why = setWhole(form, from); !why.empty()) return why;
  MatrixForm matrix = MatrixForm::get(getSharding(from).getLocalShape(from.getShape(), mesh.getMesh()));
  if (rank >= std::min(matrix.rows, matrix.columns)) return "as a matrix it has no more rows or columns than the rank";
  form.size = rank;
  form.states.push_back({"error", getErrorType(from)});
  form.states.push_back({"factor", getFactorType(from, matrix.columns, rank)});
  AxisParts group = mesh.toTensorAxes(getSharding(from)).unreduced;
  for (int64_t length : {matrix.rows, matrix.columns})
    form.sentBytes += CostModel::getSentBytes(CollectiveKind::kAllReduce, group, length * rank * sizeof(float));
  return "";
}

std::string CompressedBytes::chooseLargest(CompressedForm& form, RankedTensorType from, double share) const {
  if (std::string why = setWhole(form, from); !why.empty()) return why;
  int64_t elements = getLocalElements(from, mesh.getMesh());
  if (elements > std::numeric_limits<int32_t>::max()) return "positions of its elements need more than 32 bits";
  form.size = std::max<int64_t>(1, std::llround(share * static_cast<double>(elements)));
  form.states.push_back({"error", getErrorType(from)});
  int64_t ranks = getGroupSize(mesh.toTensorAxes(getSharding(from)).unreduced);
  form.sentBytes = (ranks - 1) * form.size * (sizeof(float) + sizeof(int32_t));
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
      why = chooseFactors(form, from, setting.rank);
      break;
    case CompressionKind::TopK:
      why = chooseLargest(form, from, setting.share);
      break;
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
