// Bytes and places are those of the explanations, one per member of a bucket.
#include "compiler/report/bound_gaps.h"

#include <map>

#include "compiler/export/export_explanation.h"
#include "dialects/sgd/decision.h"
#include "runtime/artifact/explain_text.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A step of a movement and what it sends in all its runs.
struct Step {
  Decision decision;
  std::string reason;
  uint64_t bytes;
};

}  // namespace

/// The place of the op whose sums a step takes; empty for other steps.
static StringRef getSource(const Step& step) {
  return step.decision.movement->cause == MovementCause::Producer ? StringRef(step.decision.source) : StringRef();
}

static void collectSteps(func::FuncOp function, uint64_t executions, std::vector<Step>& steps) {
  for (Operation& op : function.front()) {
    if (auto collective = dyn_cast<plan::CollectiveOp>(op))
      for (const Decision& decision : getDecisions(collective, DecisionKind::Movement))
        if (decision.bytes != 0)
          steps.push_back({decision,
                           ::sgd::artifact::ExplainText(exportExplanation(decision)) +
                               (hasDecision(collective, DecisionKind::Recompute) ? ", again for the memory limit" : ""),
                           decision.bytes * executions});
    for (func::FuncOp callee : plan::getCallees(&op)) collectSteps(callee, executions * plan::getTrips(&op), steps);
  }
}

static void sortBySize(std::vector<Step>& steps) {
  llvm::sort(steps,
             [](const Step& a, const Step& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.reason < b.reason; });
}

std::vector<BoundGap> mlir::sgd::findGaps(func::FuncOp function, const LowerBound& bound) {
  std::vector<Step> steps;
  collectSteps(function, 1, steps);
  // Bytes of the terms, by the place of a step's source or else by its tensor.
  std::map<std::string, uint64_t> needed;
  auto isSource = [](StringRef place) { return [place](const Step& step) { return getSource(step) == place; }; };
  for (const LowerBoundTerm& term : bound.terms) {
    bool hasPlace = !term.location.empty() && llvm::any_of(steps, isSource(term.location));
    needed[hasPlace ? term.location : term.type] += term.bytes;
  }
  sortBySize(steps);
  for (Step& step : steps)
    for (StringRef key : {getSource(step), StringRef(step.decision.subject)}) {
      auto term = needed.find(key.str());
      if (term == needed.end()) continue;
      uint64_t bytes = std::min(term->second, step.bytes);
      term->second -= bytes;
      step.bytes -= bytes;
    }
  llvm::erase_if(steps, [](const Step& step) { return step.bytes == 0; });
  sortBySize(steps);
  std::vector<BoundGap> gaps;
  for (Step& step : steps) gaps.push_back({std::move(step.reason), step.bytes});
  return gaps;
}
