// What counts as StableHLO: found in the bytes, and compared with parsed modules for all texts of the tests.
#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/driver/registration.h"
#include "frontends/frontends.h"
#include "frontends/stablehlo/import.h"
#include "frontends/text/mlir_text.h"
#include "llvm/Support/MemoryBuffer.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd {
namespace {

bool isStablehlo(StringRef text) {
  SmallVector<const Frontend*> found = findFrontends(text);
  EXPECT_EQ(found.size(), 1u) << text.take_front(1000).str();
  return found.size() == 1 && found.front() == &getStablehloFrontend();
}

TEST(AcceptsStablehlo, ByOpsAndByAttributesOfJax) {
  EXPECT_TRUE(isStablehlo("func.func @f() { %0 = stablehlo.constant dense<1.0> : tensor<f32> return }"));
  EXPECT_TRUE(
      isStablehlo("func.func @f() { %0 = \"stablehlo.constant\"() <{value = dense<1.0> : tensor<f32>}> : () -> "
                  "tensor<f32> return }"));
  EXPECT_TRUE(isStablehlo("func.func @f(%x: tensor<f32>) { %0 = chlo.erf %x : tensor<f32> return }"));
  EXPECT_TRUE(isStablehlo("sdy.mesh @mesh = <[\"x\"=2]>"));
  EXPECT_TRUE(
      isStablehlo("module attributes {mhlo.num_partitions = 1 : i32} {"
                  "  func.func @main(%x: tensor<2xui32>) -> tensor<2xui32> { return %x : tensor<2xui32> } }"));
  EXPECT_FALSE(isStablehlo("func.func @f() { %0 = arith.constant dense<1.0> : tensor<f32> return }"));
}

TEST(AcceptsStablehlo, NotByWordsOfTheGraphLevel) {
  EXPECT_FALSE(
      isStablehlo("// was stablehlo.add\n"
                  "module attributes {note = \"mhlo.num_partitions = 1\"} {\n"
                  "  func.func @stablehlo.add(%x: tensor<f32> {sgd.name = \"chlo.erf(\"}) -> tensor<f32> {\n"
                  "    %0 = arith.addf %x, %x : tensor<f32> loc(\"stablehlo.add\"(\"f.py\":1:2))\n"
                  "    return %0 : tensor<f32>\n  }\n}\n"));
}

/// What the ops of a parsed module say.
bool usesStablehlo(ModuleOp module) {
  if (module->hasAttr("mhlo.num_partitions")) return true;
  auto isInput = [](Operation* op) {
    StringRef dialect = op->getName().getDialectNamespace();
    return dialect == "stablehlo" || dialect == "chlo" || dialect == "sdy";
  };
  return module->walk([&](Operation* op) { return isInput(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

std::string printGeneric(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().printGenericOpForm().enableDebugInfo());
  return text;
}

TEST(AcceptsStablehlo, AsParsedTextsSay) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic&) { return success(); });
  int texts[2] = {0, 0};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SGD_TEXTS)) {
    if (entry.path().extension() != ".mlir") continue;
    auto file = llvm::MemoryBuffer::getFile(entry.path().string());
    ASSERT_TRUE(file) << entry.path();
    SmallVector<StringRef> parts;  // as sgd-opt --split-input-file has them
    (*file)->getBuffer().split(parts, "// -----\n");
    for (StringRef part : parts) {
      const std::string text = part.str();
      const bool found = isStablehlo(text);
      OwningOpRef<ModuleOp> module = parseText(&context, {text, "part.mlir"});
      if (!module) continue;
      ++texts[found];
      EXPECT_EQ(found, usesStablehlo(*module)) << entry.path() << "\n" << part.take_front(1000).str();
      EXPECT_EQ(found, isStablehlo(printGeneric(*module))) << entry.path();
    }
  }
  EXPECT_GT(texts[0], 300);
  EXPECT_GT(texts[1], 300);
}

}  // namespace
}  // namespace mlir::sgd
