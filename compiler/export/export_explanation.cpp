// Field by field.
#include "compiler/export/export_explanation.h"

#include "passes/memory/passes.h"

using namespace mlir;
using namespace mlir::sgd;

static artifact::MovementCause getCause(MovementCause cause) {
  switch (cause) {
    case MovementCause::Producer:
      return artifact::MovementCause::Producer;
    case MovementCause::User:
      return artifact::MovementCause::User;
    case MovementCause::Constant:
      return artifact::MovementCause::Constant;
    case MovementCause::Moves:
      return artifact::MovementCause::Moves;
  }
  llvm_unreachable("all causes are handled");
}

artifact::ExplainT mlir::sgd::exportExplanation(const Explanation& explanation) {
  artifact::ExplainT target;
  target.cause = getCause(explanation.cause);
  target.op = explanation.op;
  target.tensor = explanation.tensor;
  target.source = explanation.source;
  target.from = explanation.from;
  target.to = explanation.to;
  target.kind = explanation.kind;
  target.step = explanation.step;
  target.steps = explanation.steps;
  target.bytes = explanation.bytes;
  target.seconds = explanation.seconds;
  target.holds_whole = explanation.holdsWhole;
  return target;
}

std::vector<artifact::ExplainT> mlir::sgd::exportExplanations(plan::CollectiveOp collective) {
  std::vector<artifact::ExplainT> explanations;
  for (const Explanation& explanation : getExplanations(collective))
    explanations.push_back(exportExplanation(explanation));
  if (auto overlap = collective->getAttrOfType<DictionaryAttr>(kOverlapAttr)) {
    artifact::ExplainT& explanation = explanations.emplace_back();
    explanation.cause = artifact::MovementCause::Overlap;
    explanation.seconds = overlap.getAs<FloatAttr>("seconds").getValueAsDouble();
    explanation.hidden_seconds = overlap.getAs<FloatAttr>("hidden_seconds").getValueAsDouble();
  }
  return explanations;
}
