// The mesh has as many axes as after sgd-form-stages: the sequential one has the place of the stages.
#include "passes/time/stages/message_times.h"

#include "dialects/sgd/tensor_layout.h"
#include "passes/cost/message_cost.h"
#include "passes/time/stages/message_parts.h"

using namespace mlir;
using namespace mlir::sgd;

static CostModel withStages(const CostModel& cost, unsigned numStages) {
  MeshSizes mesh(cost.getMesh());
  mesh.front() = numStages;
  return {cost.getTopology(), mesh};
}

MessageTimes::MessageTimes(const ProgramFlow& flow, unsigned numStages, const CostModel& cost)
    : cost(withStages(cost, numStages)) {
  hasLinks = !sharesMemory(cost.getTopology().links.back());
  if (!hasLinks || cost.getMesh().size() == 1) return;
  auto module = flow.getFunction()->getParentOfType<ModuleOp>();
  differences.emplace(flow.getFunction(), getMesh(module).getMesh());
}

double MessageTimes::get(Value value, unsigned from, unsigned to) const {
  auto type = cast<RankedTensorType>(value.getType());
  auto bytes = static_cast<double>(getByteSize(type));
  if (!hasLinks) return 0;
  if (!differences) return getTransitSeconds(cost, from, to, bytes);
  AxisParts others;
  for (unsigned axis = 1; axis < cost.getMesh().size(); ++axis)
    if (int64_t size = cost.getMesh()[axis]; size > 1) others.push_back({axis, 1, size});
  MessageParts parts = chooseMessageParts(type, from, to, difference(others, differences->get(value)), cost);
  return getTransitSeconds(cost, from, to, bytes / static_cast<double>(parts.getCount()));
}
