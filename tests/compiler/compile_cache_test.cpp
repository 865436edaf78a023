// Entries of the compile cache: what is packed comes back, and nothing but what was packed is accepted.
#include "compiler/compile_cache.h"

#include "compiler/build_identity.h"
#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

Compilation sample() {
  Compilation compilation;
  compilation.emitted = "module {}\n";
  compilation.artifact = std::string("binary\0bytes", 12);
  Report& report = compilation.report;
  report.ranks = 8;
  report.mesh = {{"data", 4}, {"model", 2}};
  report.target = "cpu";
  report.compileSeconds = 0.125;
  report.estimatedSeconds = 1.0 / 3;
  report.memory = {9007199254740993, 1, 2, 3, 4, 5};
  report.flops = uint64_t{1} << 62;
  report.kernels = 7;
  report.libraryCalls = 6;
  report.sentBytes = 10;
  report.collectives = {{"all_reduce", 2, 4, 10, 8, "a.py:1:2", true}};
  compilation.explanation.records = {
      {"main", "a.py:1:2", "all_reduce", "[{}]", "[{\"x\"}]", "all_reduce add", 10, "sum \"of\" gradients"}};
  return compilation;
}

template <typename T>
std::string textOf(const T& value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return llvm::formatv("{0:2}\n{1}", value.toJson(), text).str();
}

TEST(CompileCache, PackedComesBack) {
  Compilation packed = sample();
  auto entry = unpackCompilation(packCompilation(packed, "a.mlir: warning: slow\n"));
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->second, "a.mlir: warning: slow\n");
  EXPECT_EQ(entry->first.emitted, packed.emitted);
  EXPECT_EQ(entry->first.artifact, packed.artifact);
  EXPECT_EQ(textOf(entry->first.report), textOf(packed.report));
  EXPECT_EQ(textOf(entry->first.explanation), textOf(packed.explanation));
}

TEST(CompileCache, EmptyCompilationComesBack) { EXPECT_TRUE(unpackCompilation(packCompilation({}, "")).has_value()); }

TEST(CompileCache, AnyDamageIsSeen) {
  const std::string good = packCompilation(sample(), "message");
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(unpackCompilation(llvm::StringRef(good).take_front(length)).has_value()) << length;
  for (size_t byte = 0; byte < good.size(); ++byte) {
    std::string damaged = good;
    damaged[byte] ^= 0x10;
    EXPECT_FALSE(unpackCompilation(damaged).has_value()) << byte;
  }
  EXPECT_FALSE(unpackCompilation(good + "x").has_value());
}

TEST(BuildIdentity, IsTheSameEachTime) {
  llvm::Expected<std::string> first = getBuildIdentity(), second = getBuildIdentity();
  ASSERT_TRUE(static_cast<bool>(first)) << llvm::toString(first.takeError());
  ASSERT_TRUE(static_cast<bool>(second)) << llvm::toString(second.takeError());
  EXPECT_EQ(*first, *second);
  EXPECT_GE(first->size(), 16u);
}

}  // namespace
}  // namespace mlir::sgd
