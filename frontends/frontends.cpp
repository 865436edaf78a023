// Which frontend imports a program; no answer depends on the order of frontends.
#include "frontends/frontends.h"

#include "frontends/foreign_formats.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::sgd;

SmallVector<const Frontend*> mlir::sgd::findFrontends(StringRef bytes, ArrayRef<const Frontend*> frontends) {
  SmallVector<const Frontend*> found;
  Acceptance best = Acceptance::IfNoOther;
  for (const Frontend* frontend : frontends) {
    Acceptance acceptance = frontend->accepts(bytes);
    if (acceptance < best) continue;
    if (acceptance > best) found.clear();
    best = acceptance;
    found.push_back(frontend);
  }
  return found;
}

const Frontend* mlir::sgd::findExporter(StringRef name) {
  ArrayRef<const Frontend*> frontends = getFrontends();
  const auto* found = llvm::find_if(
      frontends, [&](const Frontend* frontend) { return frontend->exports() && frontend->getName() == name; });
  return found == frontends.end() ? nullptr : *found;
}

static std::string listInputs(ArrayRef<const Frontend*> frontends) {
  return llvm::join(llvm::map_range(frontends, [](const Frontend* frontend) { return frontend->getInput(); }), "; or ");
}

/// The first bytes of a file, those that are not printable as `\XX`.
static std::string describeStart(StringRef bytes) {
  constexpr size_t kShown = 16;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::printEscapedString(bytes.take_front(kShown), stream);
  return text;
}

static void refuseUnknown(MLIRContext* context, StringRef bytes) {
  InFlightDiagnostic error = emitError(UnknownLoc::get(context));
  if (std::optional<ForeignFormat> foreign = findForeignFormat(bytes)) {
    error << "is " << foreign->name << "; expected a program; " << foreign->advice;
    return;
  }
  if (bytes.empty())
    error << "is empty";
  else
    error << "unknown format, beginning with '" << describeStart(bytes) << "'";
  error << "; expected " << listInputs(getFrontends()) << "; export the program as one of them";
}

OwningOpRef<ModuleOp> mlir::sgd::importProgram(MLIRContext* context, llvm::MemoryBufferRef source,
                                               const ImportOptions& options) {
  SmallVector<const Frontend*> found = findFrontends(source.getBuffer());
  // Text that no frontend is sure of may be somebody else's.
  auto isUnsure = [&](const Frontend* frontend) { return frontend->accepts(source.getBuffer()) != Acceptance::Yes; };
  if (llvm::all_of(found, isUnsure) && findForeignFormat(source.getBuffer())) found.clear();
  if (found.size() == 1 && !options.bindings.empty() && !found.front()->bindsSizes()) {
    emitError(FileLineColLoc::get(context, source.getBufferIdentifier(), 0, 0))
        << "has no open sizes that --bind could bind; expected a PyTorch model with dynamic shapes; leave --bind out";
    return nullptr;
  }
  if (found.size() == 1) return found.front()->import(context, source, options);
  if (found.empty())
    refuseUnknown(context, source.getBuffer());
  else
    emitError(UnknownLoc::get(context)) << "is read as " << listInputs(found)
                                        << "; expected one format (this is a bug of sgdc, please report it)";
  return nullptr;
}
