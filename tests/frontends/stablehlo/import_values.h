// Imports a function without arguments and evaluates it by the reference.
#ifndef TESTS_FRONTENDS_STABLEHLO_IMPORT_VALUES_H
#define TESTS_FRONTENDS_STABLEHLO_IMPORT_VALUES_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/stablehlo/import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "reference/evaluate.h"

namespace mlir::sgd {

using reference::Tensor;

class ImportValues : public testing::Test {
 protected:
  ImportValues() : context(getRegistry()) {}

  /// The results of @main, which has no arguments.
  std::vector<Tensor> run(const std::string& text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    std::vector<Tensor> tensors;
    if (!module || failed(importStablehlo(*module))) return ADD_FAILURE() << "not imported", tensors;
    auto results = reference::evaluate(module->lookupSymbol<func::FuncOp>("main"), {}, 1);
    if (failed(results)) return ADD_FAILURE() << "not evaluated", tensors;
    for (auto& result : *results) tensors.push_back(result.front());
    return tensors;
  }

  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    registerStablehloDialects(registry);
    return registry;
  }

  MLIRContext context;
};

using Integers = std::vector<int64_t>;
using Floats = std::vector<double>;

}  // namespace mlir::sgd

#endif
