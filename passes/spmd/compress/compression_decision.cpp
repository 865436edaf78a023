// The sentences of a decision about a compressed reduction.
#include "passes/spmd/compress/compression_decision.h"

using namespace mlir;
using namespace mlir::sgd;

Decision CompressionDecision::toDecision(Location loc) const {
  Decision decision = Decision::at(DecisionKind::Compression, loc);
  decision.subject = state;
  decision.axes = axes;
  decision.chosen = kind;
  decision.bytes = sentBytes;
  std::string what = state.empty() ? "a sum" : "the gradient of " + state;
  if (kind.empty()) {
    decision.alternatives = {{.name = "compressed", .why = why}};
    decision.why = what + " is sent as it is: " + why;
    return decision;
  }
  decision.alternatives = {{.name = "uncompressed", .bytes = wholeBytes}};
  decision.why = what + " is sent as " + kind + ": " + std::to_string(sentBytes) + " bytes instead of " +
                 std::to_string(wholeBytes);
  return decision;
}
