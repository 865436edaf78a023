// Ops and attributes found in texts that are not parsed.
#include "frontends/text/named_ops.h"

#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

bool hasOp(llvm::StringRef text) {
  static constexpr llvm::StringLiteral kDialects[] = {"a", "b"};
  return hasOpOf(kDialects, text);
}

TEST(NamedOps, InCustomSyntax) {
  EXPECT_TRUE(hasOp("a.mesh @m = <[]>"));
  EXPECT_TRUE(hasOp("%0 = b.add %x, %x : tensor<f32>"));
  EXPECT_TRUE(hasOp("%0:2 = \n  a.sort(%x)"));
  EXPECT_TRUE(hasOp("func.func @f() { %0 = a.one return }"));
  EXPECT_TRUE(hasOp("return\n}\na.end"));
  EXPECT_TRUE(hasOp("%0 = a.create_token : !a.token"));
  EXPECT_TRUE(hasOp("^bb0(%x: tensor<f32>):\n a.return %x"));
  EXPECT_FALSE(hasOp("%0 = c.add %x, %x"));
  EXPECT_FALSE(hasOp("%0 = aa.add %x"));
  EXPECT_FALSE(hasOp("%0 = c.a.add %x"));
  EXPECT_FALSE(hasOp(""));
}

TEST(NamedOps, InGenericSyntax) {
  EXPECT_TRUE(hasOp("\"a.end\"() : () -> ()"));
  EXPECT_TRUE(hasOp("%0 = \"a.add\"(%x) <{b = 1}> : (i32) -> i32"));
  EXPECT_TRUE(hasOp("%0 = \"c.add\"(%x) : (i32) -> i32\n\"b.end\" ()"));
  EXPECT_FALSE(hasOp("%0 = \"c.add\"(%x) : (i32) -> i32"));
}

TEST(NamedOps, NotInComments) {
  EXPECT_FALSE(hasOp("// %0 = a.add %x"));
  EXPECT_FALSE(hasOp("return // \"\n// a.end"));
  EXPECT_TRUE(hasOp("// a quote: \"\na.end"));
}

TEST(NamedOps, NotInStrings) {
  EXPECT_FALSE(hasOp("c.call {target = \"a.add\"}"));
  EXPECT_FALSE(hasOp("c.call {target = \"%0 = a.add // \\\" a.add\"}"));
  EXPECT_FALSE(hasOp("c.call {target = \"%0 = a.add"));
  EXPECT_TRUE(hasOp("c.call {target = \"// \\\"\"} a.end"));
}

TEST(NamedOps, NotInLocations) {
  EXPECT_FALSE(hasOp("#loc = loc(\"a.add\"(#loc1))"));
  EXPECT_FALSE(hasOp("%0 = c.add %x loc(callsite(\"a.add\"(\"f)\":1:2) at \"b.add\"(\"g\":1:2)))"));
  EXPECT_FALSE(hasOp("%0 = c.add %x loc(fused<#a.b>[\"a.add\"(unknown)])"));
  EXPECT_TRUE(hasOp("%0 = c.add %x loc(\"(\") a.end"));
  EXPECT_FALSE(hasOp("loc(\"a.add\"(unknown"));
}

TEST(NamedOps, NotInAttributesTypesAndSymbols) {
  EXPECT_FALSE(hasOp("#a = #a.sharding<@m, [b.c]>"));
  EXPECT_FALSE(hasOp("func.func @a.b(%a.c: !a.token)"));
  EXPECT_FALSE(hasOp("call @\"a.add\"(%x)"));
  EXPECT_FALSE(hasOp("c.op {a.sharding = 1, b.unit, \"a.quoted\" = 2}"));
  EXPECT_FALSE(hasOp("c.constant dense_resource<a.weights> : tensor<1xf32>"));
  EXPECT_FALSE(hasOp("module {}\n{-# dialect_resources: { builtin: { a.weights: \"0x04\" } } #-}"));
}

TEST(NamedOps, Attributes) {
  EXPECT_TRUE(hasAttribute("a.n", "module attributes {a.n = 1 : i32} {}"));
  EXPECT_TRUE(hasAttribute("a.n", "module attributes {b.m = 2, \"a.n\" = 1 : i32} {}"));
  EXPECT_FALSE(hasAttribute("a.n", "module attributes {b = \"a.n = 1\"} {} // {a.n = 1}"));
  EXPECT_FALSE(hasAttribute("a.n", "module attributes {a.nn = 1} {}"));
  EXPECT_FALSE(hasAttribute("a.n", "a.n @m = <>"));
}

}  // namespace
}  // namespace mlir::sgd
