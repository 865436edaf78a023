// The pass and the function that import a module; see import.h.
#include "frontends/stablehlo/import.h"

#include "dialects/spmd/spmd_dialect.h"
#include "frontends/stablehlo/importer.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/input/stablehlo_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

namespace mlir::sgd {
#define GEN_PASS_DEF_IMPORTSTABLEHLOPASS
#include "frontends/stablehlo/passes.h.inc"
}  // namespace mlir::sgd

namespace {

struct ImportStablehloPass : mlir::sgd::impl::ImportStablehloPassBase<ImportStablehloPass> {
  using ImportStablehloPassBase::ImportStablehloPassBase;

  /// Complex ops are expanded to ops of all input dialects, whichever of them the module holds.
  void getDependentDialects(DialectRegistry& registry) const final { registerStablehloDialects(registry); }
  void runOnOperation() final {
    ImportOptions options;
    options.transformsByMatmuls = transformsByMatmuls;
    options.keepUnreduced = keepUnreduced;
    if (importStablehlo(getOperation(), options).failed()) signalPassFailure();
  }
};

}  // namespace

void mlir::sgd::registerStablehloDialects(DialectRegistry& registry) {
  registry.insert<stablehlo::StablehloDialect, chlo::ChloDialect, sdy::SdyDialect>();
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, SgdDialect, spmd::SpmdDialect>();
}

SmallVector<std::string> mlir::sgd::getSupportedInputOps() { return Importer::getSupportedOps(); }

LogicalResult mlir::sgd::importStablehlo(ModuleOp module, const ImportOptions& options) {
  MLIRContext* context = module.getContext();
  // Those of the input too, before the importer asks for its ops by name: the text may hold none of a dialect that
  // rewrites of it use.
  context->loadDialect<chlo::ChloDialect, sdy::SdyDialect, stablehlo::StablehloDialect>();
  context->loadDialect<arith::ArithDialect, func::FuncDialect, math::MathDialect, SgdDialect, spmd::SpmdDialect>();
  context->loadDialect<stablehlo::StablehloDialect, chlo::ChloDialect, sdy::SdyDialect>();
  return Importer(module, options).run();
}
