// The import of a module outside of a pass manager.
#include "frontends/stablehlo/import.h"

#include <gtest/gtest.h>

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace {

class ImportTest : public testing::Test {
 protected:
  ImportTest() : context(getRegistry()) {}

  OwningOpRef<ModuleOp> parse(StringRef text) { return parseSourceString<ModuleOp>(text, &context); }

  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    sgd::registerStablehloDialects(registry);
    return registry;
  }

  MLIRContext context;
};

TEST_F(ImportTest, LeavesAModuleThatVerifies) {
  OwningOpRef<ModuleOp> module = parse(
      "func.func public @main(%x: tensor<2xui32>) -> tensor<2xui32> {"
      "  %0 = stablehlo.add %x, %x : tensor<2xui32> return %0 : tensor<2xui32> }");
  ASSERT_TRUE(module);
  ASSERT_TRUE(sgd::importStablehlo(*module).succeeded());
  EXPECT_TRUE(verify(*module).succeeded());
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  EXPECT_EQ(sgd::getStablehloFrontend().accepts(text), sgd::Acceptance::No) << text;
}

TEST_F(ImportTest, ReportsWithoutAPassManager) {
  OwningOpRef<ModuleOp> module = parse(
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {"
      "  %0 = chlo.conj %x : tensor<4xf32> -> tensor<4xf32> return %0 : tensor<4xf32> }");
  ASSERT_TRUE(module);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) { message += diagnostic.str(); });
  EXPECT_TRUE(sgd::importStablehlo(*module).failed());
  EXPECT_EQ(message.find("'chlo.conj' is not supported yet"), 0u) << message;
}

}  // namespace
