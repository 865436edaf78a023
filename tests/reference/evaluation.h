// Evaluates small texts, for tests of the reference evaluator.
#pragma once

#include <gtest/gtest.h>

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "dialects/fusion/fusion_dialect.h"
#include "reference/evaluate.h"

namespace mlir::sgd::reference {

class EvaluationTest : public ::testing::Test {
 protected:
  EvaluationTest() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<SgdDialect, fusion::FusionDialect, spmd::SpmdDialect, func::FuncDialect, arith::ArithDialect,
                        math::MathDialect>();
  }

  /// The first result of @main in `text`, a function without arguments, on each of `ranks` ranks.
  RankTensors run(StringRef text, int64_t ranks = 1) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module) return ADD_FAILURE() << "the text does not parse", RankTensors();
    auto results = evaluate(module->lookupSymbol<func::FuncOp>("main"), {}, ranks);
    if (failed(results)) return ADD_FAILURE() << "not evaluated", RankTensors();
    return results->front();
  }

  /// The same for `body`, whose last value is %r of type `type`, on one rank.
  Tensor compute(const std::string& body, const std::string& type) {
    RankTensors results = run("func.func @main() -> " + type + " {" + body + "\nreturn %r : " + type + "}");
    return results.empty() ? Tensor() : results.front();
  }

  MLIRContext context;
};

using Integers = std::vector<int64_t>;
using Floats = std::vector<double>;

}  // namespace mlir::sgd::reference
