// A walk over nested locations.
#include "passes/partition/source_line.h"

#include "dialects/sgd/scope.h"

using namespace mlir;

std::string mlir::sgd::getSourceLine(Location location) {
  std::string text;
  location->walk([&](Location part) {
    auto range = dyn_cast<FileLineColRange>(part);
    if (!range) return WalkResult::advance();
    llvm::raw_string_ostream(text) << range.getFilename().getValue() << ":" << range.getStartLine() << ":"
                                   << range.getStartColumn();
    return WalkResult::interrupt();
  });
  return text;
}

mlir::sgd::Explanation mlir::sgd::explainMovement(Operation* op) {
  Explanation explanation;
  explanation.cause = MovementCause::Moves;
  explanation.op = op->getName().getStringRef().str();
  explanation.source = getSourceLine(op->getLoc());
  explanation.scope = getScope(op->getLoc()).path;
  return explanation;
}
