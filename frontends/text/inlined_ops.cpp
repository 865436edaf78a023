// Each function is measured once.
#include "frontends/text/inlined_ops.h"

using namespace mlir;
using namespace mlir::sgd;

/// Names of a chain of calls that a message holds.
static constexpr size_t kMostNames = 6;

FlatSymbolRefAttr mlir::sgd::getCalledFunction(Operation* op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call ? call.getCalleeAttr() : FlatSymbolRefAttr();
}

/// "main -> f0 -> f1", its middle left out where it is long.
std::string InlinedOps::describeCalls() {
  std::string text;
  for (size_t i = 0; i < openFunctions.size(); ++i) {
    const bool isSkipped =
        openFunctions.size() > kMostNames && i >= kMostNames / 2 && i < openFunctions.size() - kMostNames / 2;
    if (isSkipped && i != kMostNames / 2) continue;
    text += (i == 0 ? "" : " -> ") + (isSkipped ? "..." : openFunctions[i].getSymName().str());
  }
  return text;
}

FailureOr<InlinedOps::Size> InlinedOps::measure(Region& region) {
  Size size;
  WalkResult result = region.walk([&](Operation* op) {
    ++size.ops;
    FlatSymbolRefAttr callee = getCallee(op);
    func::FuncOp function = callee ? functions.lookup(callee.getAttr()) : func::FuncOp();
    if (!function) return WalkResult::advance();
    FailureOr<Size> inner = measure(function, op->getLoc());
    if (failed(inner)) return WalkResult::interrupt();
    size.ops += inner->ops;
    size.depth = std::max(size.depth, inner->depth + 1);
    if (size.ops > kMaxInlinedOps) {
      op->emitError() << "the calls " << describeCalls() << " become more than " << kMaxInlinedOps
                      << " ops when they are inlined; call fewer functions, or call them in a loop";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? FailureOr<Size>(failure()) : size;
}

FailureOr<InlinedOps::Size> InlinedOps::measure(func::FuncOp function, Location call) {
  if (auto entry = known.find(function); entry != known.end()) {
    if (entry->second.depth + openFunctions.size() > kMaxImportDepth)
      return emitError(call) << "calls nest deeper than " << kMaxImportDepth << " functions: " << describeCalls()
                             << "; expected fewer levels; inline some functions before exporting";
    return entry->second;
  }
  if (llvm::is_contained(openFunctions, function))
    return emitError(call) << "'" << function.getSymName() << "' calls itself; recursion is not supported";
  openFunctions.push_back(function);
  if (openFunctions.size() > kMaxImportDepth)
    return emitError(call) << "calls nest deeper than " << kMaxImportDepth << " functions: " << describeCalls()
                           << "; expected fewer levels; inline some functions before exporting";
  FailureOr<Size> size = measure(function.getBody());
  openFunctions.pop_back();
  if (succeeded(size)) known[function] = *size;
  return size;
}

LogicalResult InlinedOps::check(func::FuncOp function) {
  openFunctions.clear();
  return measure(function, function.getLoc());
}
