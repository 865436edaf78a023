// Bytes and places are those of the explanations, one per member of a bucket.
#include "compiler/report/bound_gaps.h"

#include <map>

#include "compiler/export/export_explanation.h"
#include "dialects/sgd/decision.h"
#include "runtime/artifact/explain_text.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A step of a movement, with what terms of the bound are matched by.
struct Step {
  BoundStep step;
  std::string source;  ///< of the op whose partial values the step reduces; empty for other steps
  std::string tensor;
};

class StepCollector {
 public:
  void add(func::FuncOp function, uint64_t executions) {
    for (Operation& op : function.front()) {
      if (auto collective = dyn_cast<plan::CollectiveOp>(op)) addCollective(collective, executions);
      for (func::FuncOp callee : plan::getCallees(&op)) add(callee, executions * plan::getTrips(&op));
    }
  }

  std::vector<Step> take() { return std::move(steps); }

 private:
  void addCollective(plan::CollectiveOp collective, uint64_t executions) {
    bool isRepeated = hasDecision(collective, DecisionKind::Recompute);
    for (auto [index, decision] : llvm::enumerate(getDecisions(collective))) {
      if (decision.kind != DecisionKind::Movement || decision.bytes == 0) continue;
      Step& added = steps.emplace_back();
      added.step.collective = numCollectives;
      added.step.decision = index;
      added.step.reason = ::sgd::artifact::ExplainText(exportExplanation(decision)) +
                          (isRepeated ? ", again for the memory limit" : "");
      added.step.bytes = decision.bytes * executions;
      if (decision.movement->cause == MovementCause::Producer) added.source = decision.source;
      added.tensor = decision.subject;
    }
    ++numCollectives;
  }

  std::vector<Step> steps;
  uint64_t numCollectives = 0;
};

}  // namespace

std::vector<BoundStep> mlir::sgd::matchBound(func::FuncOp function, const LowerBound& bound) {
  StepCollector collector;
  collector.add(function, 1);
  std::vector<Step> steps = collector.take();
  // Bytes of the terms, by the place of a step's source or else by its tensor.
  std::map<std::string, uint64_t> left;
  auto isSource = [](StringRef place) { return [place](const Step& step) { return step.source == place; }; };
  for (const LowerBoundTerm& term : bound.terms) {
    bool hasPlace = !term.location.empty() && llvm::any_of(steps, isSource(term.location));
    left[hasPlace ? term.location : term.type] += term.bytes;
  }
  SmallVector<BoundStep*> order;
  DenseMap<BoundStep*, const Step*> keys;
  for (Step& step : steps) order.push_back(&step.step), keys[&step.step] = &step;
  llvm::sort(order, [](const BoundStep* a, const BoundStep* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->reason < b->reason;
  });
  for (BoundStep* step : order)
    for (const std::string& key : {keys[step]->source, keys[step]->tensor}) {
      auto term = left.find(key);
      if (term == left.end()) continue;
      uint64_t bytes = std::min(term->second, step->bytes - step->needed);
      term->second -= bytes;
      step->needed += bytes;
    }
  std::vector<BoundStep> matched;
  for (Step& step : steps) matched.push_back(std::move(step.step));
  return matched;
}

std::vector<BoundGap> mlir::sgd::findGaps(func::FuncOp function, const LowerBound& bound) {
  std::vector<BoundGap> gaps;
  for (BoundStep& step : matchBound(function, bound))
    if (step.bytes > step.needed) gaps.push_back({std::move(step.reason), step.bytes - step.needed});
  llvm::sort(gaps, [](const BoundGap& a, const BoundGap& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.reason < b.reason;
  });
  return gaps;
}
