// A walk over nested locations.
#include "passes/partition/source_line.h"

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

std::string mlir::sgd::getMovementReason(Operation* op) {
  std::string text;
  llvm::raw_string_ostream(text) << op->getName() << " along a sharded dimension";
  if (std::string source = getSourceLine(op->getLoc()); !source.empty()) text += " at " + source;
  return text;
}
