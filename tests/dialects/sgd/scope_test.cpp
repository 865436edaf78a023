// Scopes as JAX writes them into locations.
#include "dialects/sgd/scope.h"

#include "gtest/gtest.h"
#include "mlir/IR/Location.h"

namespace mlir::sgd {
namespace {

Scope scopeOf(llvm::StringRef name) {
  static MLIRContext context;
  auto file = FileLineColLoc::get(&context, "gpt.py", 3, 1);
  auto frame = NameLoc::get(StringAttr::get(&context, "loss_of"), file);
  return getScope(NameLoc::get(StringAttr::get(&context, name), CallSiteLoc::get(frame, file)));
}

TEST(GetScope, LeavesOutFunctionsAndTransformations) {
  EXPECT_EQ(scopeOf("jit(step)/jvp(encoder)/layer0/mlp/dot_general").path, "encoder/layer0/mlp");
  EXPECT_EQ(scopeOf("jit(step)/jvp()/add").path, "");
  EXPECT_EQ(scopeOf("jit(step)/vmap(jvp(a/b))/c/add").path, "a/b/c");
  EXPECT_EQ(scopeOf("jit(step)/jvp(jit(inner))/c/add").path, "c");
  EXPECT_FALSE(scopeOf("jit(step)/jvp(encoder)/add").isBackward);
}

TEST(GetScope, KnowsTheBackwardPass) {
  Scope scope = scopeOf("jit(step)/transpose(jvp(encoder))/layer0/mul");
  EXPECT_EQ(scope.path, "encoder/layer0");
  EXPECT_TRUE(scope.isBackward);
}

TEST(GetScope, StrangeNamesAreNoScopes) {
  for (llvm::StringRef name : {"add", "params['a/b']", "/", "a)/(b", "((((/))))", "x(/"}) (void)scopeOf(name);
  EXPECT_EQ(scopeOf("add").path, "");
  static MLIRContext context;
  EXPECT_EQ(getScope(UnknownLoc::get(&context)).path, "");
}

}  // namespace
}  // namespace mlir::sgd
