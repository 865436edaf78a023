// The pass sgd-record-text.
#include "compiler/bound/lower_bound.h"
#include "compiler/report/passes.h"
#include "compiler/report/program_text.h"
#include "compiler/report/unsplit_peak.h"
#include "dialects/sgd/programs.h"
#include "frontends/frontends.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_RECORDTEXTPASS
#include "compiler/report/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// The text of a module without them is that of its programs.
static constexpr llvm::StringLiteral kOfCompilations[] = {kRequestAttr, kLowerBoundAttr, kUnsplitPeakAttr};

static const Frontend& getExporter() { return *findExporter("StableHLO"); }

/// In StableHLO; nothing after an error. Readers of the text want the names of the user's ops, which are locations.
static FailureOr<std::string> printStablehlo(ModuleOp compilation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (ModuleOp program : getPrograms(compilation)) {
    OwningOpRef<ModuleOp> exported = getExporter().exportProgram(program);
    if (!exported) return failure();
    exported->print(stream, OpPrintingFlags().enableDebugInfo());
    stream << "\n";
  }
  return text;
}

static std::string printPrograms(ModuleOp compilation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  DictionaryAttr attributes = compilation->getDiscardableAttrDictionary();
  for (StringRef name : kOfCompilations) compilation->removeAttr(name);
  for (ModuleOp program : getPrograms(compilation)) {
    program.print(stream);
    stream << "\n";
  }
  compilation->setDiscardableAttrs(attributes);
  return text;
}

namespace {
struct RecordTextPass : mlir::sgd::impl::RecordTextPassBase<RecordTextPass> {
  using RecordTextPassBase::RecordTextPassBase;

  void getDependentDialects(DialectRegistry& registry) const override { getExporter().registerDialects(registry); }

  void runOnOperation() override {
    FailureOr<std::string> text = stablehlo ? printStablehlo(getOperation()) : printPrograms(getOperation());
    if (failed(text)) return signalPassFailure();
    getOperation()->setDiscardableAttr(kTextAttr, StringAttr::get(&getContext(), *text));
  }
};
}  // namespace
