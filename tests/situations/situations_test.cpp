// Situations that a partitioner must handle, one file of programs/ each: right by value on all ranks, with the
// collectives that the file asks for and no other. A file is a program of the graph level that begins with its title
// and says
//
//     // collective: all_reduce over 4 sends 1536     one line for each, bytes per rank and step, in any order
//     // no collectives                               where none is needed
//     // lower bound: 1536                             where the bound on what is sent is of interest; it is never
//     above
//                                                      what is sent
//
// and may say what its inputs are (tests/differential/inputs.h).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/differential/check.h"

namespace mlir::sgd::differential {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> listPrograms() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(SGD_SITUATIONS)) paths.push_back(entry.path());
  llvm::sort(paths);
  return paths;
}

bool checksGpus() {
  const char* target = std::getenv("SGD_CHECK_TARGET");
  return target && StringRef(target).starts_with("cuda");
}

/// "all_reduce over 4 sends 1536" for each collective that `text` asks for; nullopt when it does not say. Reductions
/// that GPUs have not are something else there: "// collective: <this>, on GPUs: <that>".
std::optional<std::vector<std::string>> getWanted(const std::string& text) {
  static const std::regex line(R"(^// collective: (\w+ over \d+ sends \d+)(, on GPUs: (\w+ over \d+ sends \d+))?\s*$)",
                               std::regex::multiline);
  std::vector<std::string> wanted;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), line); it != std::sregex_iterator(); ++it)
    wanted.push_back((*it)[checksGpus() && (*it)[3].matched ? 3 : 1]);
  bool saysNone = StringRef(text).contains("\n// no collectives\n");
  return saysNone == wanted.empty() ? std::optional(wanted) : std::nullopt;
}

/// The lower bound that `text` expects, where it says one.
std::optional<uint64_t> getWantedBound(const std::string& text) {
  static const std::regex line(R"(^// lower bound: (\d+)\s*$)", std::regex::multiline);
  std::smatch match;
  return std::regex_search(text, match, line) ? std::optional<uint64_t>(std::stoull(match[1])) : std::nullopt;
}

std::vector<std::string> getActual(const Report& report) {
  std::vector<std::string> actual;
  for (const CollectiveReport& one : report.collectives)
    for (int64_t i = 0; i < one.count; ++i)
      actual.push_back(one.kind + " over " + std::to_string(one.groupSize) + " sends " +
                       std::to_string(one.sentBytes / one.count));
  return actual;
}

class Situation : public ::testing::TestWithParam<fs::path> {};

TEST_P(Situation, IsRightWithTheCollectivesItNeeds) {
  std::string text = read(GetParam());
  auto wanted = getWanted(text);
  ASSERT_TRUE(wanted) << "say either which collectives are wanted or that there are none";
  CheckResult result = check(text);
  ASSERT_EQ(result.verdict, Verdict::Agrees) << result.message;
  EXPECT_THAT(getActual(result.report), ::testing::UnorderedElementsAreArray(*wanted));
  EXPECT_LE(result.report.lowerBound.bytes, result.report.sentBytes);
  if (auto bound = getWantedBound(text)) EXPECT_EQ(result.report.lowerBound.bytes, *bound);
}

INSTANTIATE_TEST_SUITE_P(Programs, Situation, ::testing::ValuesIn(listPrograms()),
                         [](const auto& info) { return "s" + info.param.stem().string(); });

}  // namespace
}  // namespace mlir::sgd::differential
