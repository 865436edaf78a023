// Merged collectives keep an explanation of each movement; their bytes are split as the explanations count them.
#include "compiler/expectations/traffic.h"

#include "compiler/export/export_explanation.h"
#include "compiler/export/export_program.h"
#include "dialects/sgd/source_line.h"
#include "dialects/sgd/scope.h"
#include "dialects/sgd/stages.h"
#include "runtime/artifact/explain_text.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class TrafficFinder {
 public:
  void addFunction(func::FuncOp function, uint64_t executions) {
    for (Operation& op : function.front()) {
      if (auto collective = dyn_cast<plan::CollectiveOp>(op)) addCollective(collective, executions);
      if (auto send = dyn_cast<plan::SendOp>(op)) addSend(send, executions);
      for (func::FuncOp callee : plan::getCallees(&op)) addFunction(callee, executions * plan::getTrips(&op));
    }
  }

  std::vector<Traffic> traffic;

 private:
  Traffic& add(Operation* op, StringRef kind, uint64_t bytes) {
    std::string place = getSourceLine(op->getLoc());
    return traffic.emplace_back(Traffic{.kind = kind.str(),
                                        .axes = {},
                                        .scope = getScope(op->getLoc()).path,
                                        .what = (kind + (place.empty() ? "" : " at " + place)).str(),
                                        .bytes = bytes});
  }

  void addCollective(plan::CollectiveOp collective, uint64_t executions) {
    const uint64_t bytes = getSentBytes(collective) * executions;
    std::vector<std::string> axes;
    for (AxisRefAttr axis : collective.getAxes().getAxes()) axes.push_back(axis.getName().str());
    StringRef kind = ::sgd::comm::CollectiveName(collective.getKind());
    SmallVector<Decision, 1> parts = getDecisions(collective, DecisionKind::Movement);
    uint64_t total = 0, before = 0;
    for (const Decision& part : parts) total += part.bytes;
    if (total == 0) {
      add(collective, kind, bytes).axes = std::move(axes);
      return;
    }
    for (const Decision& part : parts) {
      const uint64_t end = before + part.bytes;
      Traffic& one = add(collective, kind, getShare(bytes, end, total) - getShare(bytes, before, total));
      one.axes = axes;
      one.scope = part.scope;
      one.what = kind.str() + " of " + ::sgd::artifact::CauseText(exportExplanation(part));
      before = end;
    }
  }

  /// `bytes * part / total`, rounded down.
  static uint64_t getShare(uint64_t bytes, uint64_t part, uint64_t total) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * part / total);
  }

  void addSend(plan::SendOp send, uint64_t executions) {
    Traffic& one = add(send, "send", getSentBytes(plan::InstructionOpInterface(send)) * executions);
    one.what += " to stage " + std::to_string(send.getStage());
    one.axes.push_back(getActiveStageAxis(getMesh(send->getParentOfType<ModuleOp>())).getName().str());
  }
};

}  // namespace

std::vector<Traffic> mlir::sgd::findTraffic(func::FuncOp function) {
  TrafficFinder finder;
  finder.addFunction(function, 1);
  return std::move(finder.traffic);
}
