// Words around the fields of Explain.
#include "runtime/artifact/explain_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sgd::artifact {
namespace {

std::string At(const ExplainT& explain) { return explain.source.empty() ? "" : absl::StrCat(" at ", explain.source); }

std::string TensorAnd(const ExplainT& explain, const char* word) {
  return absl::StrCat(explain.tensor, explain.op.empty() ? "" : absl::StrCat(" ", word, " ", explain.op), At(explain));
}

}  // namespace

std::string CauseText(const ExplainT& explain) {
  switch (explain.cause) {
    case MovementCause::Producer:
      return TensorAnd(explain, "from");
    case MovementCause::User:
      return TensorAnd(explain, "for");
    case MovementCause::Constant:
      return "constant";
    case MovementCause::Moves:
      return absl::StrCat(explain.op, " along a sharded dimension", At(explain));
    case MovementCause::Overlap:
      return absl::StrFormat("runs beside compute, which hides %.0f of its %.0f us", explain.hidden_seconds * 1e6,
                             explain.seconds * 1e6);
  }
  return "";
}

std::string StepText(const ExplainT& explain) {
  if (explain.cause == MovementCause::Overlap) return "";
  return absl::StrCat("step ", explain.step, " of ", explain.steps, ": ", explain.kind, ", ", explain.bytes,
                      " bytes sent, ", absl::StrFormat("%.1f us", explain.seconds * 1e6),
                      explain.holds_whole ? ", holds the whole tensor: the axes have no common part" : "");
}

std::string ExplainText(const ExplainT& explain) {
  if (explain.cause == MovementCause::Overlap) return CauseText(explain);
  return absl::StrCat(CauseText(explain), ": ", explain.from, " -> ", explain.to, ": ", StepText(explain));
}

}  // namespace sgd::artifact
