// Entries of the compile cache: what is packed comes back, and nothing but what was packed is accepted.
#include "compiler/driver/compile_cache.h"

#include "compiler/driver/build_identity.h"
#include "gtest/gtest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "runtime/json/json_text.h"

namespace mlir::sgd {
namespace {

Compilation sample() {
  Compilation compilation;
  compilation.emitted = "module {}\n";
  compilation.request = "module attributes {sgd.request = #sgd.request<version = 2, {}>} {}\n";
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
  ExplainRecord& record = compilation.explanation.records.emplace_back();
  record.program = "main", record.location = "a.py:1:2", record.op = "all_reduce", record.why = "sum \"of\" gradients";
  record.from = "[{}]", record.to = "[{\"x\"}]", record.steps = "all_reduce add", record.bytes = 10;
  record.alternatives = {{.name = "reduce_scatter", .seconds = 2e-6}};
  return compilation;
}

template <typename T>
std::string textOf(const T& value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return ::sgd::json::WriteJson(value.toJson(), 2) + "\n" + text;
}

TEST(CompileCache, PackedComesBack) {
  Compilation packed = sample();
  auto entry = unpackCompilation(packCompilation(packed, "a.mlir: warning: slow\n"));
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->second, "a.mlir: warning: slow\n");
  EXPECT_EQ(entry->first.emitted, packed.emitted);
  EXPECT_EQ(entry->first.request, packed.request);
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

class CacheFolder : public testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cache", folder)); }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  /// A file of so many bytes that was used so many seconds ago.
  void put(const std::string& name, size_t bytes, int seconds) {
    std::error_code problem;
    llvm::raw_fd_ostream file(path(name), problem);
    ASSERT_FALSE(problem);
    file << std::string(bytes, 'x');
    file.flush();
    int descriptor = -1;
    ASSERT_FALSE(llvm::sys::fs::openFileForRead(path(name), descriptor));
    auto time = std::chrono::system_clock::now() - std::chrono::seconds(seconds);
    ASSERT_FALSE(llvm::sys::fs::setLastAccessAndModificationTime(descriptor, time));
    llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
  }
  std::string path(const std::string& name) const { return (folder + "/" + name).str(); }
  bool has(const std::string& name) const { return llvm::sys::fs::exists(path(name)); }
  static std::string entry(char digit) { return std::string(64, digit) + ".sgdc"; }

  llvm::SmallString<128> folder;
};

TEST_F(CacheFolder, WhatWasUsedLongestAgoGoesFirst) {
  put(entry('a'), 100, 30);
  put(entry('b'), 100, 50);
  put(entry('c'), 100, 40);
  trimCache(folder, 300);
  EXPECT_TRUE(has(entry('a')) && has(entry('b')) && has(entry('c')));
  trimCache(folder, 299);
  EXPECT_TRUE(has(entry('a')) && !has(entry('b')) && has(entry('c')));
  trimCache(folder, 150);
  EXPECT_TRUE(has(entry('a')) && !has(entry('c')));
  trimCache(folder, 0);
  EXPECT_FALSE(has(entry('a')));
}

TEST_F(CacheFolder, OnlyEntriesAndOldLeftoversGo) {
  put("model.sgda", 100, 9000);
  put(std::string(63, 'a') + ".sgdc", 100, 9000);
  put(std::string(64, 'z') + ".sgdc", 100, 9000);
  put(entry('a') + ".temp-stream-1", 100, 9000);
  put(entry('b') + ".temp-stream-2", 100, 60);
  trimCache(folder, 0);
  EXPECT_TRUE(has("model.sgda") && has(std::string(63, 'a') + ".sgdc") && has(std::string(64, 'z') + ".sgdc"));
  EXPECT_FALSE(has(entry('a') + ".temp-stream-1"));
  EXPECT_TRUE(has(entry('b') + ".temp-stream-2"));
  trimCache(path("none"), 0);
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
