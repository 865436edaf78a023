// Entry points of the frontend; see import.h.
#include "frontends/stablehlo/import.h"

#include "frontends/stablehlo/importer.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/input/stablehlo_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct ImportStablehloPass : PassWrapper<ImportStablehloPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ImportStablehloPass)

  StringRef getArgument() const final { return "sgd-import-stablehlo"; }
  StringRef getDescription() const final {
    return "Lowers stablehlo, chlo and sdy to the graph level; inlines private functions";
  }
  void getDependentDialects(DialectRegistry& registry) const final {
    registerStablehloDialects(registry);
  }
  void runOnOperation() final {
    if (importStablehlo(getOperation()).failed()) signalPassFailure();
  }
};

}  // namespace

void sgd::registerStablehloDialects(DialectRegistry& registry) {
  registry.insert<stablehlo::StablehloDialect, chlo::ChloDialect, sdy::SdyDialect>();
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, SgdDialect>();
}

void sgd::registerStablehloPasses() { PassRegistration<ImportStablehloPass>(); }

bool sgd::usesStablehlo(ModuleOp module) {
  auto isInput = [](Operation* op) {
    return isa_and_nonnull<stablehlo::StablehloDialect, chlo::ChloDialect, sdy::SdyDialect>(
        op->getDialect());
  };
  return module
      ->walk([&](Operation* op) {
        return isInput(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult sgd::importStablehlo(ModuleOp module) {
  MLIRContext* context = module.getContext();
  context->loadDialect<arith::ArithDialect, func::FuncDialect, math::MathDialect, SgdDialect>();
  return Importer(module).run();
}

std::unique_ptr<Pass> sgd::createImportStablehloPass() {
  return std::make_unique<ImportStablehloPass>();
}
