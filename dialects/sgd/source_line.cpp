// A walk over nested locations.
#include "dialects/sgd/source_line.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

std::string mlir::sgd::getSourceLine(Location location) {
  std::string text;
  location->walk([&](Location part) {
    auto range = dyn_cast<FileLineColRange>(part);
    if (!range) return WalkResult::advance();
    llvm::raw_string_ostream os(text);
    os << range.getFilename().getValue();
    if (range.getStartLine() > 0) os << ":" << range.getStartLine() << ":" << range.getStartColumn();
    return WalkResult::interrupt();
  });
  return text;
}
