// Data is JSON in an element of its own that no browser executes: names from models cannot leave it, since no "<" is in
// it, and scripts show texts as texts.
#include "runtime/page/page.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "runtime/artifact/short_message.h"
#include "runtime/json/json_text.h"
#include "runtime/page/comparison.h"
#include "runtime/page/measured_trace.h"
#include "runtime/page/page_template.h"
#include "runtime/page/plan_data.h"

namespace sgd::page {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDataMark = "@DATA@";

absl::StatusOr<Json> PlansJson(const Plans& plans) {
  Json all = Json::array();
  for (const auto& plan : plans) {
    absl::StatusOr<Json> data = PlanData(*plan);
    if (!data.ok()) return data.status();
    all.push_back(*std::move(data));
  }
  return all;
}

// Of plans that go together: by name, and where each file has one, these.
absl::StatusOr<Json> Compare(const Json& plans, const Json& compared) {
  Json all = Json::array();
  for (const Json& plan : plans)
    for (const Json& other : compared)
      if ((plans.size() == 1 && compared.size() == 1) || plan["name"] == other["name"])
        all.push_back(ComparePlans(plan, other));
  if (!all.empty()) return all;
  std::string names, others;
  for (const Json& plan : plans) absl::StrAppend(&names, names.empty() ? "" : ", ", plan["name"].get<std::string>());
  for (const Json& plan : compared)
    absl::StrAppend(&others, others.empty() ? "" : ", ", plan["name"].get<std::string>());
  return absl::InvalidArgumentError(artifact::ShortMessage(
      absl::StrCat("the artifacts have no plan of one name: ", names, " and ", others,
                   "; expected plans to compare; choose one by --plan, of artifacts with one each")));
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

absl::StatusOr<std::string> WritePage(const Plans& plans, const PageOptions& options) {
  absl::StatusOr<Json> data = PlansJson(plans);
  if (!data.ok()) return data.status();
  Json page = {{"file", NameOf(plans.front()->path())}};
  if (options.compared != nullptr) {
    absl::StatusOr<Json> other = PlansJson(*options.compared);
    if (!other.ok()) return other.status();
    absl::StatusOr<Json> comparisons = Compare(*data, *other);
    if (!comparisons.ok()) return comparisons.status();
    page["compared"] = {{"file", NameOf(options.compared->front()->path())}, {"plans", *std::move(comparisons)}};
  }
  if (!options.trace.empty()) {
    absl::StatusOr<Json> trace = ReadMeasuredTrace(options.trace, *plans.front());
    if (!trace.ok()) return trace.status();
    page["trace"] = *std::move(trace);
  }
  page["plans"] = *std::move(data);
  const std::string text = absl::StrReplaceAll(json::WriteJson(page), {{"<", "\\u003c"}});
  const std::string_view whole(reinterpret_cast<const char*>(kPageTemplate), kPageTemplateSize);
  const size_t mark = whole.find(kDataMark);
  return absl::StrCat(std::string(whole.substr(0, mark)), text, std::string(whole.substr(mark + kDataMark.size())));
}

absl::StatusOr<std::string> CompareText(const Plans& plans, const Plans& compared) {
  absl::StatusOr<Json> data = PlansJson(plans);
  if (!data.ok()) return data.status();
  absl::StatusOr<Json> other = PlansJson(compared);
  if (!other.ok()) return other.status();
  absl::StatusOr<Json> comparisons = Compare(*data, *other);
  if (!comparisons.ok()) return comparisons.status();
  return ComparisonText(*comparisons);
}

}  // namespace sgd::page
