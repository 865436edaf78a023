// Text of the compiler's own levels: of the graph, or, for pipelines written by stages, of SPMD.
#include "frontends/frontend.h"

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/stages.h"
#include "dialects/spmd/spmd_dialect.h"
#include "frontends/native/inline_calls.h"
#include "frontends/text/mlir_text.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "passes/levels/levels.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class NativeFrontend final : public Frontend {
 public:
  StringRef getName() const final { return "Native text"; }
  StringRef getInput() const final {
    return "text of the graph level, as sgdc --emit graph prints it, or of the SPMD level for pipelines by stages";
  }

  /// Its dialects are in texts of other frontends too, say `func`; a text without any is for the parser to refuse.
  Acceptance accepts(StringRef bytes) const final { return isText(bytes) ? Acceptance::IfNoOther : Acceptance::No; }

  OwningOpRef<ModuleOp> import(MLIRContext* context, llvm::MemoryBufferRef source,
                               const ImportOptions& options) const final {
    OwningOpRef<ModuleOp> module = parseProgram(context, source, options);
    if (!module || failed(inlineCalls(*module))) return nullptr;
    Level level = getActiveStageAxis(getMesh(*module)) ? Level::Spmd : Level::Graph;
    return succeeded(verifyLevel(*module, level, Fault::Program)) ? std::move(module) : nullptr;
  }

  void registerDialects(DialectRegistry& registry) const final {
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, SgdDialect, spmd::SpmdDialect>();
    func::registerInlinerExtension(registry);
  }
};

}  // namespace

namespace mlir::sgd {

const Frontend& getNativeFrontend() {
  static const NativeFrontend frontend;
  return frontend;
}

}  // namespace mlir::sgd
