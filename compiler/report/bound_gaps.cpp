// Bytes and places are read from the explanations, one per member of a bucket.
#include "compiler/report/bound_gaps.h"

#include <map>

#include "compiler/export/export_program.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sgd;

/// The number in ", 1024 bytes sent"; 0 without one.
static uint64_t getStepBytes(StringRef reason) {
  auto [before, after] = reason.split(" bytes sent");
  uint64_t bytes = 0;
  if (before.size() == reason.size() || before.rsplit(' ').second.getAsInteger(10, bytes)) return 0;
  return bytes;
}

/// The place of the op whose sums a step takes: in "... from sgd.reduce at step.py:1:2: ...".
static StringRef getSource(StringRef reason) {
  StringRef why = reason.split(": ").first;
  return why.contains(" from ") ? why.split(" at ").second : StringRef();
}

static void collectSteps(func::FuncOp function, uint64_t executions, std::vector<BoundGap>& steps) {
  for (Operation& op : function.front()) {
    if (auto collective = dyn_cast<plan::CollectiveOp>(op))
      for (StringRef reason : getExplanations(collective))
        if (uint64_t bytes = getStepBytes(reason)) steps.push_back({reason.str(), bytes * executions});
    for (func::FuncOp callee : plan::getCallees(&op)) collectSteps(callee, executions * plan::getTrips(&op), steps);
  }
}

static void sortBySize(std::vector<BoundGap>& steps) {
  llvm::sort(steps, [](const BoundGap& a, const BoundGap& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.reason < b.reason;
  });
}

std::vector<BoundGap> mlir::sgd::findGaps(func::FuncOp function, const LowerBound& bound) {
  std::vector<BoundGap> steps;
  collectSteps(function, 1, steps);
  // Bytes of the terms, by the place of a step's source or else by its tensor.
  std::map<std::string, uint64_t> needed;
  auto isSource = [](StringRef place) {
    return [place](const BoundGap& gap) { return getSource(gap.reason) == place; };
  };
  for (const LowerBoundTerm& term : bound.terms) {
    bool hasPlace = !term.location.empty() && llvm::any_of(steps, isSource(term.location));
    needed[hasPlace ? term.location : term.type] += term.bytes;
  }
  sortBySize(steps);
  for (BoundGap& step : steps)
    for (StringRef key : {getSource(step.reason), StringRef(step.reason).split(' ').first}) {
      auto term = needed.find(key.str());
      if (term == needed.end()) continue;
      uint64_t bytes = std::min(term->second, step.bytes);
      term->second -= bytes;
      step.bytes -= bytes;
    }
  llvm::erase_if(steps, [](const BoundGap& step) { return step.bytes == 0; });
  sortBySize(steps);
  return steps;
}
