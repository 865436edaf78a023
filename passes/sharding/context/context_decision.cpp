// The sentences of a decision about attention over sharded positions.
#include "passes/sharding/context/context_decision.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::sgd;

Decision ContextDecision::toDecision(Location loc) const {
  Decision decision = Decision::at(DecisionKind::Attention, loc);
  decision.chosen = getName(form).str();
  for (const FormEstimate& estimate : estimates) {
    decision.alternatives.push_back(
        {.name = getName(estimate.form).str(), .seconds = estimate.seconds, .why = estimate.why});
    if (estimate.form == form) decision.seconds = estimate.seconds;
  }
  decision.why = getText();
  return decision;
}

static StringRef describe(ContextForm form) {
  switch (form) {
    case ContextForm::Gathered:
      return "keys and values, or queries, are gathered";
    case ContextForm::Ring:
      return "blocks of keys and values go from rank to rank";
    case ContextForm::Striped:
      return "each rank gets every nth position, and these blocks of keys and values go from rank to rank";
    case ContextForm::AllToAll:
      return "heads or batch entries are exchanged for positions";
  }
  llvm_unreachable("all forms are described");
}

std::string ContextDecision::getText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "positions of this attention are over " << ranks << " ranks; " << describe(form) << " (" << getName(form)
     << (isAskedFor ? ", as the recipe asks)" : ")");
  if (!why.empty()) os << ": " << why;
  for (const FormEstimate& estimate : estimates) {
    os << "; " << getName(estimate.form);
    if (estimate.why.empty())
      os << " takes " << llvm::format("%.3g", estimate.seconds * 1e3) << " ms by estimate";
    else
      os << " is out: " << estimate.why;
  }
  return text;
}
