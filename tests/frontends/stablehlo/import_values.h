// Imports a function without arguments and evaluates it by the reference; what it exports to has the same values.
#ifndef TESTS_FRONTENDS_STABLEHLO_IMPORT_VALUES_H
#define TESTS_FRONTENDS_STABLEHLO_IMPORT_VALUES_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/stablehlo/export/export.h"
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
    if (!module || failed(importStablehlo(*module))) return ADD_FAILURE() << "not imported", std::vector<Tensor>();
    std::vector<Tensor> tensors = evaluate(*module);
    expectSameOfExport(*module, tensors);
    return tensors;
  }

  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    registerStablehloDialects(registry);
    return registry;
  }

  MLIRContext context;

 private:
  std::vector<Tensor> evaluate(ModuleOp module) {
    std::vector<Tensor> tensors;
    auto results = reference::evaluate(module.lookupSymbol<func::FuncOp>("main"), {}, 1);
    if (failed(results)) return ADD_FAILURE() << "not evaluated", tensors;
    for (auto& result : *results) tensors.push_back(result.front());
    return tensors;
  }

  /// Numbers with one text for each value, NaN included.
  static std::vector<std::string> print(const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (double value : values) texts.push_back(testing::PrintToString(value));
    return texts;
  }

  /// Without collectives the graph is the program of one rank. Calls, which decompositions become, are not imported.
  void expectSameOfExport(ModuleOp module, const std::vector<Tensor>& expected) {
    OwningOpRef<ModuleOp> exported = exportStablehlo(module);
    ASSERT_TRUE(exported) << "not exported";
    std::string text;
    llvm::raw_string_ostream(text) << *exported;
    if (text.find("custom_call") != std::string::npos) return;
    OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(again && succeeded(importStablehlo(*again))) << "not imported again:\n" << text;
    std::vector<Tensor> tensors = evaluate(*again);
    ASSERT_EQ(tensors.size(), expected.size());
    for (auto [tensor, wanted] : llvm::zip_equal(tensors, expected)) {
      EXPECT_EQ(tensor.integers, wanted.integers) << text;
      EXPECT_EQ(print(tensor.floats), print(wanted.floats)) << text;
    }
  }
};

using Integers = std::vector<int64_t>;
using Floats = std::vector<double>;

}  // namespace mlir::sgd

#endif
