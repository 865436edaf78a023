// All sets of axes are compared; there are few.
#include "passes/time/stages/message_parts.h"

#include <limits>

#include "dialects/sgd/tensor_layout.h"
#include "passes/cost/message_cost.h"

using namespace mlir;
using namespace mlir::sgd;

/// More axes are one set.
static constexpr unsigned kMostAxes = 6;

static std::optional<int64_t> getDim(RankedTensorType type, int64_t count) {
  auto dim = llvm::find_if(type.getShape(), [](int64_t size) { return size != 1; });
  if (dim == type.getShape().end() || *dim % count != 0) return std::nullopt;
  return dim - type.getShape().begin();
}

/// Of a part: cut by its ranks, sent, and gathered by those that receive.
static double getSeconds(RankedTensorType type, int64_t from, int64_t to, ArrayRef<AxisPart> axes,
                         const CostModel& cost) {
  auto bytes = static_cast<double>(getByteSize(type));
  double part = bytes / static_cast<double>(getGroupSize(axes));
  return cost.getMoveSeconds(2 * part) + getMessageSeconds(cost, from, to, part) +
         cost.getCollectiveSeconds(CollectiveKind::kAllGather, axes, getByteSize(type));
}

MessageParts mlir::sgd::chooseMessageParts(RankedTensorType type, int64_t from, int64_t to,
                                           ArrayRef<AxisPart> replicated, const CostModel& cost) {
  MessageParts best;
  best.wholeSeconds = getMessageSeconds(cost, from, to, static_cast<double>(getByteSize(type)));
  best.partSeconds = std::numeric_limits<double>::infinity();
  unsigned all = (1u << std::min<size_t>(replicated.size(), kMostAxes)) - 1;
  for (unsigned set = replicated.size() > kMostAxes ? all : 1; set <= all; ++set) {
    AxisParts axes;
    for (auto [index, axis] : llvm::enumerate(replicated))
      if (index >= kMostAxes || (set >> index & 1) != 0) axes.push_back(axis);
    axes = prefixThatDivides(axes, type.getNumElements());
    if (axes.empty()) continue;
    double seconds = getSeconds(type, from, to, axes, cost);
    if (seconds >= best.partSeconds) continue;
    best.partSeconds = seconds;
    if (seconds < best.wholeSeconds) best.axes = axes;
  }
  if (best.isCut()) best.dim = getDim(type, best.getCount());
  return best;
}
