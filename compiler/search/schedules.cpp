// Asks the mesh, which has the recipe's schedule.
#include "compiler/search/schedules.h"

#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stages.h"
#include "passes/cost/message_cost.h"
#include "passes/time/stages/pipeline_schedule.h"

using namespace mlir;
using namespace mlir::sgd;

/// Whether messages are on their way while their senders go on. An error of the topology is said where costs are first
/// asked for.
static bool hasLinks(StringRef name) {
  llvm::Expected<Topology> topology = loadTopology(name);
  if (topology) return !sharesMemory(topology->links.back());
  llvm::consumeError(topology.takeError());
  return false;
}

std::vector<std::string> mlir::sgd::getSchedulesToChoose(ArrayRef<ModuleOp> programs, const PlanOptions& options) {
  MeshOp mesh = getMesh(programs.front());
  MeshAxisAttr parts = getSequentialAxis(mesh);
  if (!getStageAxis(mesh) || !parts || parts.getSize() == 1) return {};
  auto asked = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  std::vector<StringRef> names = getScheduleChoices(asked ? asked.getValue() : StringRef());
  // A limit may be too low for what 1F1B keeps in flight while messages are sent.
  if (options.memoryLimit && llvm::is_contained(names, "1f1b") && hasLinks(options.topology)) names.push_back("1f1b:0");
  if (names.size() == 1) return {};
  return {names.begin(), names.end()};
}
