// Field by field.
#include "compiler/export/export_explanation.h"

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

static artifact::ExplainT exportMovement(const Decision& decision) {
  const Movement& movement = *decision.movement;
  artifact::ExplainT target;
  target.cause = getCause(movement.cause);
  target.op = movement.op;
  target.tensor = decision.subject;
  target.source = decision.source;
  target.from = movement.from;
  target.to = movement.to;
  target.kind = decision.chosen;
  target.step = movement.step;
  target.steps = movement.steps;
  target.bytes = decision.bytes;
  target.seconds = decision.seconds;
  target.holds_whole = movement.holdsWhole;
  return target;
}

static artifact::ExplainT exportOverlap(const Decision& decision) {
  artifact::ExplainT target;
  target.cause = artifact::MovementCause::Overlap;
  target.seconds = decision.seconds;
  target.hidden_seconds = decision.hiddenSeconds;
  return target;
}

artifact::ExplainT mlir::sgd::exportExplanation(const Decision& decision) {
  return decision.movement ? exportMovement(decision) : exportOverlap(decision);
}

std::vector<artifact::ExplainT> mlir::sgd::exportExplanations(plan::CollectiveOp collective) {
  std::vector<artifact::ExplainT> explanations;
  for (const Decision& decision : getDecisions(collective))
    if (decision.movement || decision.kind == DecisionKind::Overlap)
      explanations.push_back(exportExplanation(decision));
  return explanations;
}
