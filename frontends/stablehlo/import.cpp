// Entry points of the frontend; see import.h.
#include "frontends/stablehlo/import.h"

#include "dialects/sgd/sgd_dialect.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/input/stablehlo_dialect.h"

using namespace mlir;

void sgd::registerStablehloDialects(DialectRegistry &registry) {
  registry.insert<stablehlo::StablehloDialect, chlo::ChloDialect, sdy::SdyDialect>();
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, SgdDialect>();
}

bool sgd::usesStablehlo(ModuleOp module) {
  auto isInput = [](Operation *op) {
    return isa_and_nonnull<stablehlo::StablehloDialect, chlo::ChloDialect, sdy::SdyDialect>(op->getDialect());
  };
  return module->walk([&](Operation *op) { return isInput(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}
