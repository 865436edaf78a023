// Registration, and the ops that are flat.
#include "passes/graph/autodiff/derivative_rule.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::sgd;

#include "passes/graph/autodiff/derivative_rule.cpp.inc"

bool mlir::sgd::isFlat(StringRef op) {
  static const llvm::StringSet<> names = {"arith.bitcast", "arith.cmpf", "arith.fptosi", "arith.fptoui",
                                          "math.ceil",     "math.floor", "math.round",   "math.roundeven",
                                          "math.trunc",    "sgd.fptosi", "sgd.fptoui"};
  return names.contains(op);
}

void mlir::sgd::registerDerivativeRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*, arith::ArithDialect*, math::MathDialect*) {
    attachElementwiseDerivatives(*context);
    attachMovementDerivatives(*context);
    attachIndexedDerivatives(*context);
    attachContractionDerivatives(*context);
    attachOrderDerivatives(*context);
    attachControlFlowDerivatives(*context);
    attachLinearAlgebraDerivatives(*context);
  });
}
