// Which frontend a program goes to, and what is said where there is none.
#include "frontends/frontends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A frontend that gives one answer.
class Fake : public Frontend {
 public:
  explicit Fake(Acceptance answer) : answer(answer) {}
  StringRef getName() const final { return "Fake"; }
  StringRef getInput() const final { return "a fake"; }
  Acceptance accepts(StringRef) const final { return answer; }
  OwningOpRef<ModuleOp> import(MLIRContext*, llvm::MemoryBufferRef, const ImportOptions&) const final { return {}; }
  void registerDialects(DialectRegistry&) const final {}

 private:
  Acceptance answer;
};

std::string importError(StringRef bytes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) { message += diagnostic.str(); });
  EXPECT_FALSE(importProgram(&context, {bytes, "model"}, ImportOptions()));
  return message;
}

TEST(Frontends, TheMostCertainAnswerWins) {
  Fake no(Acceptance::No), ifNoOther(Acceptance::IfNoOther), yes(Acceptance::Yes);
  EXPECT_THAT(findFrontends("", {&no}), IsEmpty());
  EXPECT_THAT(findFrontends("", {&no, &ifNoOther}), ElementsAre(&ifNoOther));
  EXPECT_THAT(findFrontends("", {&no, &ifNoOther, &yes}), ElementsAre(&yes));
  EXPECT_THAT(findFrontends("", {&yes, &ifNoOther, &no}), ElementsAre(&yes));
}

TEST(Frontends, TwoThatAcceptAreBothFound) {
  Fake a(Acceptance::Yes), b(Acceptance::Yes), c(Acceptance::IfNoOther), d(Acceptance::IfNoOther);
  EXPECT_THAT(findFrontends("", {&a, &c, &b}), ElementsAre(&a, &b));
  EXPECT_THAT(findFrontends("", {&c, &d}), ElementsAre(&c, &d));
}

TEST(Frontends, UnknownFormatsAreRefusedWithWhatIsExpected) {
  const char* expected =
      "; expected text of the graph level, as sgdc --emit graph prints it, or of the SPMD level for pipelines by "
      "stages; or StableHLO as text, as jax.jit(f).lower(...).as_text() prints it; or a PyTorch archive, as "
      "torch.export.save(torch.export.export(module, inputs), 'model.pt2') writes it; export the program as one of "
      "them";
  EXPECT_EQ(importError(""), std::string("is empty") + expected);
  EXPECT_EQ(importError(StringRef("GGUF\0\0\0\0", 8)),
            std::string("unknown format, beginning with 'GGUF\\00\\00\\00\\00'") + expected);
}

TEST(Frontends, BinaryFormatsAreNoText) {
  const StringRef formats[] = {"ML\xefR",                                       // MLIR's bytecode
                               StringRef("ML\xefR\x0dStableHLO_v1.9.0\0", 21),  // the same from JAX's export
                               StringRef("PK\5\6\x14\0\0\0stablehlo.add", 21),  // the end of a ZIP archive
                               "\x08\x07\x12\x07pytorch",                       // ONNX
                               StringRef("\x7f"
                                         "ELF\2\1\1\0",
                                         8),                                     //
                               StringRef("\0\0\0\0stablehlo.add", 17),           //
                               StringRef("\x18\0\0\0\0\0\0\0{\"a\": {}}", 17)};  // safetensors
  for (StringRef bytes : formats) EXPECT_THAT(findFrontends(bytes), IsEmpty()) << bytes.str();
}

TEST(Frontends, TextIsForTheParserToRefuse) {
  EXPECT_EQ(findFrontends("nonsense !").size(), 1u);
  EXPECT_EQ(findFrontends("\n").size(), 1u);
  EXPECT_EQ(importError("nonsense !"), "invalid type identifier");
}

}  // namespace
}  // namespace mlir::sgd
