// Bytes that can be text, and errors at places in it.
#include "frontends/text/mlir_text.h"

#include <gtest/gtest.h>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd {
namespace {

TEST(MlirText, HasNoControlCharactersAtItsStart) {
  EXPECT_TRUE(isText("module {}"));
  EXPECT_TRUE(isText(" \t\r\n\f\v"));
  EXPECT_TRUE(isText("// na\xc3\xafve"));
  EXPECT_FALSE(isText(""));
  EXPECT_FALSE(isText(StringRef("module {}\0", 10)));
  EXPECT_FALSE(isText("\1"));
  EXPECT_FALSE(isText("\x7f"));
  EXPECT_FALSE(isText("ML\xefR"));
}

TEST(MlirText, IsExaminedAtItsStart) {
  const std::string text(63, ' ');
  EXPECT_FALSE(isText(text + '\0'));
  EXPECT_TRUE(isText(text + ' ' + '\0'));
}

TEST(MlirText, PhasesOfAProgramAreReported) {
  MLIRContext context;
  std::string phases;
  ImportOptions options;
  options.enterPhase = [&](StringRef phase) { phases += phase.str() + " "; };
  EXPECT_TRUE(parseProgram(&context, {"module {}", "m.mlir"}, options));
  EXPECT_EQ(phases, "parse import ");
}

TEST(MlirText, FaultsHaveAPlace) {
  MLIRContext context;
  std::string place;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) {
    auto at = cast<FileLineColLoc>(diagnostic.getLocation());
    place = at.getFilename().str() + ":" + std::to_string(at.getLine()) + ":" + std::to_string(at.getColumn());
  });
  const std::string text = "module {\n  " + std::string(2000, '(');
  EXPECT_FALSE(parseText(&context, {text, "m.mlir"}));
  EXPECT_EQ(place, "m.mlir:2:1002");
}

}  // namespace
}  // namespace mlir::sgd
