// Which names and scopes a glob matches.
#include "compiler/recipe/glob.h"

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

bool matches(llvm::StringRef pattern, llvm::StringRef name) {
  llvm::Expected<TensorGlob> glob = TensorGlob::parse(pattern);
  EXPECT_TRUE(static_cast<bool>(glob)) << pattern.str();
  return glob && glob->matches(name);
}

TEST(TensorGlob, QuotesAndBracketsOfKeysMayBeLeftOut) {
  constexpr llvm::StringLiteral kName = "state.params['dense']['kernel']";
  for (llvm::StringRef pattern :
       {"state.params['dense']['kernel']", "state.params.dense.kernel", "state.params[dense][kernel]",
        "state['params'][\"dense\"].kernel", "*['kernel']", "*.kernel", "*kernel", "state.*.k?rnel", "*"})
    EXPECT_TRUE(matches(pattern, kName)) << pattern.str();
  for (llvm::StringRef pattern : {"params.dense.kernel", "*.kern", "kernel", "*.dense", "state.params['dense']"})
    EXPECT_FALSE(matches(pattern, kName)) << pattern.str();
}

TEST(TensorGlob, PositionsAndSetsOfCharacters) {
  EXPECT_TRUE(matches("opt_state[0].mu['w']", "opt_state[0].mu['w']"));
  EXPECT_TRUE(matches("opt_state.0.mu.w", "opt_state[0].mu['w']"));
  EXPECT_FALSE(matches("opt_state[1].mu['w']", "opt_state[0].mu['w']"));
  EXPECT_TRUE(matches("layer[0-2].w", "layer1['w']"));
  EXPECT_FALSE(matches("layer[0-2].w", "layer3['w']"));
  EXPECT_TRUE(matches("*.attention.[qkv]*", "p['attention']['key']"));
  EXPECT_FALSE(matches("*.attention.[qkv]*", "p['attention']['output']"));
  EXPECT_FALSE(matches("w[!0]", "w0"));
  EXPECT_TRUE(matches("w[!0]", "w1"));
}

TEST(TensorGlob, StrangePatternsAreErrorsOrMatchNothing) {
  for (llvm::StringRef pattern : {"[", "]", "a[", "[[", "\\", "[]", ".[", "a.[z-a]", "['", "[']"}) {
    llvm::Expected<TensorGlob> glob = TensorGlob::parse(pattern);
    if (!glob)
      EXPECT_FALSE(llvm::toString(glob.takeError()).empty());
    else
      EXPECT_FALSE(glob->matches("params['w']")) << pattern.str();
  }
}

std::string find(llvm::StringRef pattern, llvm::StringRef scope) {
  llvm::Expected<ScopeGlob> glob = ScopeGlob::parse(pattern);
  EXPECT_TRUE(static_cast<bool>(glob)) << pattern.str();
  return glob ? glob->findIn(scope).str() : "";
}

TEST(ScopeGlob, FindsAScopeInOthers) {
  EXPECT_EQ(find("mlp", "encoder/layer0/mlp"), "encoder/layer0/mlp");
  EXPECT_EQ(find("mlp", "encoder/layer0/mlp/up"), "encoder/layer0/mlp");
  EXPECT_EQ(find("encoder/layer*/mlp", "encoder/layer0/mlp/up"), "encoder/layer0/mlp");
  EXPECT_EQ(find("layer[0-1]", "encoder/layer1/mlp"), "encoder/layer1");
  EXPECT_EQ(find("layer[0-1]", "encoder/layer2/mlp"), "");
  EXPECT_EQ(find("mlp", "encoder/mlpx/up"), "");
  EXPECT_EQ(find("/encoder/", "encoder"), "encoder");
  EXPECT_EQ(find("encoder", ""), "");
}

TEST(ScopeGlob, DotsAndSlashesSeparateParts) {
  EXPECT_EQ(find("layers.*", "model/layers/0/mlp"), "model/layers/0/mlp");
  EXPECT_EQ(find("layers.0", "layers/0/mlp"), "layers/0");
  EXPECT_EQ(find("layers/0", "layers.0.mlp"), "layers.0");
  EXPECT_EQ(find("layers.1", "layers/10"), "");
}

}  // namespace
}  // namespace mlir::sgd
