// Which frontend a program goes to, and what is said where there is none.
#include "frontends/frontends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/foreign_formats.h"
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
  EXPECT_EQ(importError(StringRef("\1\2\3\4\0\0", 6)),
            std::string("unknown format, beginning with '\\01\\02\\03\\04\\00\\00'") + expected);
}

TEST(Frontends, ForeignFormatsAreNamed) {
  const std::pair<StringRef, const char*> formats[] = {
      {"ML\xefR\x0dStableHLO_v1.9.0", "is MLIR bytecode; expected a program; print the program by jax.jit"},
      {StringRef("\x80\x04\x95\x10\0\0", 6), "is a Python pickle; expected a program; export the module"},
      {StringRef("\x93NUMPY\1\0v\0", 10), "is a NumPy array; expected a program; tensors are for sgdrun"},
      {"\x08\x07\x12\x07pytorch", "is an ONNX model; "},
      {"\n\x08jit_step\x12", "is an HLO module as a protocol buffer; "},
      {StringRef("\x18\0\0\0\0\0\0\0{\"a\": {}}", 17), "is a safetensors file; "},
      {StringRef("\x89SGDA\r\n\x1a", 8), "is a compiled artifact; expected a program; run it by sgdrun"},
      {"HloModule jit_step, entry_computation_layout={}", "is HLO text; "},
      {"{ lambda ; a:f32[8]. let b = mul a a in (b,) }", "is a jaxpr; "},
      {"{\n  \"mesh\": {\"data\": 4}\n}", "is JSON; expected a program; recipes are given by --recipe"},
      {"import jax\nimport jax.numpy as jnp\n", "is Python source; "},
      {"\n\"\"\"Trains.\"\"\"\n", "is Python source; "},
  };
  auto getZip = [](StringRef member) {
    std::string header("PK\3\4" + std::string(26, '\0') + member.str() + "...");
    header[26] = static_cast<char>(member.size());
    return header;
  };
  EXPECT_THAT(importError(getZip("w.npy")), ::testing::StartsWith("is an npz file of arrays; expected a program; "));
  EXPECT_THAT(importError(getZip("model/data.pkl")), ::testing::StartsWith("is what torch.save writes; "));
  for (const auto& [bytes, message] : formats) EXPECT_THAT(importError(bytes), ::testing::StartsWith(message));
}

TEST(Frontends, TextOfMlirIsNotForeign) {
  for (StringRef text :
       {"module {\n}", "#map = affine_map<(d0) -> (d0)>\n", "// import x\nmodule {}", "func.func @main() { return }",
        "\"builtin.module\"() ({}) : () -> ()", "!t = tensor<4xf32>", "sdy.mesh @mesh = <[\"data\"=4]>"})
    EXPECT_FALSE(findForeignFormat(text)) << text.str();
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
