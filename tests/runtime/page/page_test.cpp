// The page is one file that needs no other, and names from models stay texts in it.
#include "runtime/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/runtime/page/toy.h"

namespace sgd::page {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t Count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

nlohmann::json DataOf(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

class PageTest : public ::testing::Test {
 protected:
  std::string Page(const ToyOptions& options, const PageOptions& others = {}) {
    const auto page = WritePage(ToyPlans(folder_ / "toy.sgda", options), others);
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? *page : "";
  }

  data::TemporaryFolder folder_;
};

TEST_F(PageTest, NeedsNoOtherFile) {
  const std::string page = Page(WithRecords(ToyRecords(1024, "w")));
  EXPECT_LT(page.size(), 1 << 20);
  // Names of XML namespaces are no addresses that anything is loaded from.
  const std::string rest = std::regex_replace(page, std::regex("http://www[.]w3[.]org/2000/svg"), "");
  for (const char* part :
       {"http:", "https:", "//cdn", "src=", "@import", "url(", "<link", "import(", "fetch(", "XMLHttp"})
    EXPECT_THAT(rest, Not(HasSubstr(part)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'")) << "browsers would refuse to load anything";
  EXPECT_EQ(Count(page, "</script>"), 2);
  EXPECT_THAT(page, Not(HasSubstr("@DATA@")));
  EXPECT_THAT(page, Not(HasSubstr("@STYLE@")));
}

TEST_F(PageTest, HasThePlanWithItsRecords) {
  const nlohmann::json data = DataOf(Page(WithRecords(ToyRecords(1024, "w"))));
  const nlohmann::json& plan = data["plans"][0];
  EXPECT_EQ(data["file"], "toy.sgda");
  EXPECT_EQ(plan["records"], ToyRecords(1024, "w"));
  EXPECT_EQ(plan["mesh"], nlohmann::json::parse(R"([["data", 2]])"));
  const nlohmann::json& train = plan["programs"][0];
  EXPECT_EQ(train["inputs"][1]["sharding"], nlohmann::json::parse(R"([["data"], []])"));
  EXPECT_EQ(train["inputs"][1]["bytes"], 64);
  const nlohmann::json& columns = train["instructions"];
  EXPECT_EQ(columns["op"].size(), 4);
  EXPECT_EQ(train["texts"][columns["op"][1].get<size_t>()], "all_reduce");
  EXPECT_EQ(columns["sent"], nlohmann::json::parse("[0, 16, 0, 0]"));
  EXPECT_EQ(train["locations"][columns["loc"][1].get<size_t>()], "toy.py:3:7");
}

TEST_F(PageTest, NamesAreTexts) {
  const std::vector<std::string> names = {"</script><script>alert(1)</script>",
                                          "<!--<script>",
                                          "]]>\"'`${1}",
                                          std::string("a\0b\x01\x1b[31m", 9),
                                          "\xff\xfe\xc3",
                                          "\u202e\u2028",
                                          std::string(200'000, 'n')};
  for (const std::string& name : names) {
    ToyOptions options = WithRecords(ToyRecords(1, "w"));
    options.parameter = name;
    const std::string page = Page(options);
    EXPECT_EQ(Count(page, "</script>"), 2) << name.substr(0, 40);
    EXPECT_EQ(Count(page, "<script"), 2) << name.substr(0, 40);
    const nlohmann::json data = DataOf(page);
    const std::string shown = data["plans"][0]["programs"][0]["inputs"][0]["name"];
    if (name.find('\xff') == std::string::npos) EXPECT_EQ(shown, name);
    for (const char c : page.substr(page.find("id=\"data\"")))
      EXPECT_TRUE(c == '\n' || static_cast<uint8_t>(c) >= 0x20);
  }
}

TEST_F(PageTest, HasSeveralPlansAndComparisons) {
  const std::vector<uint8_t> records = PackRecords(ToyRecords(1024, "w").dump());
  WriteToyPlans(folder_ / "two.sgda",
                {{"p", {.ranks = 1, .has_eval = true, .records = records}}, {"q", {.ranks = 2, .records = records}}});
  auto bundle = artifact::Bundle::Open(folder_ / "two.sgda");
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  Plans two;
  for (const char* name : {"p", "q"}) two.push_back(*bundle->Load({.name = name}));
  const auto page = WritePage(two, {.compared = &two});
  ASSERT_TRUE(page.ok()) << page.status();
  const nlohmann::json data = DataOf(*page);
  EXPECT_EQ(data["plans"].size(), 2);
  EXPECT_EQ(data["plans"][0]["programs"].size(), 2);
  EXPECT_EQ(data["compared"]["file"], "two.sgda");
  EXPECT_EQ(data["compared"]["plans"][1]["before"], "q");
  EXPECT_EQ(data["compared"]["plans"][1]["collectives"], nlohmann::json::array());
}

TEST_F(PageTest, ArtifactsWithoutRecordsAreRefused) {
  const auto page = WritePage(ToyPlans(folder_ / "toy.sgda", {}), {});
  EXPECT_THAT(std::string(page.status().message()), HasSubstr("has no records of its compilation"));
}

}  // namespace
}  // namespace sgd::page
