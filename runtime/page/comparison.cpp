// Records may be anything that is JSON: fields that are absent or of another type count as zero and empty.
#include "runtime/page/comparison.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/data/safetensors.h"

namespace sgd::page {
namespace {

using Json = nlohmann::json;

const Json& At(const Json& json, const char* key) {
  static const Json& none = *new Json();
  const auto field = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && field != json.end() ? *field : none;
}

double NumberOf(const Json& json) { return json.is_number() ? json.get<double>() : 0; }
std::string TextOf(const Json& json) { return json.is_string() ? json.get<std::string>() : std::string(); }

// A number of reports, by its path there.
struct Metric {
  const char* name;
  const char* unit;
  std::vector<const char*> path;
};

const std::vector<Metric>& Metrics() {
  static const std::vector<Metric>& metrics = *new std::vector<Metric>{
      {"step time", "seconds", {"estimated_seconds"}},
      {"bytes sent", "bytes", {"sent_bytes"}},
      {"lower bound of bytes sent", "bytes", {"lower_bound", "bytes"}},
      {"peak memory", "bytes", {"memory", "peak"}},
      {"memory of arguments", "bytes", {"memory", "arguments"}},
      {"memory of temporaries", "bytes", {"memory", "temporaries"}},
      {"memory of constants", "bytes", {"memory", "constants"}},
      {"memory of the host", "bytes", {"memory", "host"}},
      {"floating-point operations", "", {"flops"}},
      {"kernels launched", "", {"kernels"}},
      {"library calls", "", {"library_calls"}},
      {"ranks", "", {"ranks"}},
      {"bubble", "", {"bubble"}},
  };
  return metrics;
}

Json NumbersJson(const Json& before, const Json& after) {
  Json numbers = Json::array();
  const auto value = [](const Json& plan, const Metric& metric) {
    const Json* at = &At(At(plan, "records"), "report");
    for (const char* key : metric.path) at = &At(*at, key);
    return NumberOf(*at);
  };
  for (const Metric& metric : Metrics())
    numbers.push_back({{"name", metric.name},
                       {"unit", metric.unit},
                       {"before", value(before, metric)},
                       {"after", value(after, metric)}});
  const auto count = [](const Json& plan) {
    const Json& collectives = At(At(At(plan, "records"), "report"), "collectives");
    return collectives.is_array() ? collectives.size() : size_t{0};
  };
  numbers.push_back(
      {{"name", "collectives and messages"}, {"unit", ""}, {"before", count(before)}, {"after", count(after)}});
  return numbers;
}

// Both sides of one key: texts of shardings, or bytes.
template <typename Value>
struct Pair {
  Json described;
  std::optional<Value> before, after;
};

template <typename Value>
using Pairs = std::map<std::vector<std::string>, Pair<Value>>;

void AddCollectives(const Json& plan, std::optional<double> Pair<double>::* side, Pairs<double>& pairs) {
  const Json& groups = At(At(plan, "records"), "groups");
  if (!groups.is_array()) return;
  for (const Json& group : groups) {
    std::vector<std::string> axes;
    if (At(group, "axes").is_array()) {
      for (const Json& axis : At(group, "axes")) axes.push_back(TextOf(axis));
    }
    const std::string program = TextOf(At(group, "program")), op = TextOf(At(group, "op")),
                      name = TextOf(At(group, "name")), over = absl::StrJoin(axes, ", ");
    Pair<double>& pair = pairs[{program, op, name, over}];
    pair.described = {{"program", program}, {"op", op}, {"name", name}, {"axes", over}};
    pair.*side = (pair.*side).value_or(0) + NumberOf(At(group, "bytes"));
  }
}

// "[data, -], of stage 1": axes by dimension.
std::string ShardingText(const Json& tensor, const Json& stage) {
  std::vector<std::string> dims;
  const Json& sharding = At(tensor, "sharding");
  bool is_replicated = true;
  for (const Json& axes : sharding) {
    std::vector<std::string> names;
    for (const Json& axis : axes) names.push_back(TextOf(axis));
    is_replicated = is_replicated && names.empty();
    dims.push_back(names.empty() ? "-" : absl::StrJoin(names, "+"));
  }
  std::string text = is_replicated ? "replicated" : absl::StrCat("[", absl::StrJoin(dims, ", "), "]");
  absl::StrAppend(&text, " ", TextOf(At(tensor, "local")));
  if (NumberOf(stage) >= 0 && stage.is_number()) absl::StrAppend(&text, " on stage ", NumberOf(stage));
  return text;
}

void AddShardings(const Json& plan, std::optional<std::string> Pair<std::string>::* side, Pairs<std::string>& pairs) {
  for (const Json& program : At(plan, "programs"))
    for (const char* list : {"inputs", "outputs"})
      for (const Json& tensor : At(program, list)) {
        const std::string name = TextOf(At(tensor, "name")), of = TextOf(At(program, "name"));
        Pair<std::string>& pair = pairs[{of, list, name}];
        pair.described = {{"program", of}, {"list", list}, {"name", name}};
        const std::string text = ShardingText(tensor, At(program, "stage"));
        pair.*side = pair.*side ? absl::StrCat(*(pair.*side), ", ", text) : text;
      }
}

template <typename Value>
Json Differences(const Pairs<Value>& pairs) {
  Json differences = Json::array();
  for (const auto& [key, pair] : pairs) {
    if (pair.before == pair.after) continue;
    Json difference = pair.described;
    difference["change"] = !pair.before ? "added" : !pair.after ? "removed" : "changed";
    difference["before"] = pair.before ? Json(*pair.before) : Json();
    difference["after"] = pair.after ? Json(*pair.after) : Json();
    differences.push_back(std::move(difference));
  }
  return differences;
}

std::string ValueText(const std::string& unit, double value) {
  if (unit == "seconds") return absl::StrFormat("%.4g ms", value * 1e3);
  if (unit == "bytes") return absl::StrFormat("%.0f B", value);
  return absl::StrFormat("%.6g", value);
}

// A name from a model on one line, without quotes.
std::string Shown(const Json& text) {
  const std::string quoted = data::QuotedName(TextOf(text));
  return quoted.substr(1, quoted.size() - 2);
}

std::string NumbersText(const Json& numbers) {
  std::string text;
  for (const Json& one : numbers) {
    const double before = NumberOf(At(one, "before")), after = NumberOf(At(one, "after"));
    if (before == 0 && after == 0) continue;
    const std::string unit = TextOf(At(one, "unit"));
    absl::StrAppend(&text, absl::StrFormat("  %-28s %18s %18s", TextOf(At(one, "name")), ValueText(unit, before),
                                           ValueText(unit, after)));
    if (before != after && before != 0)
      absl::StrAppend(&text, absl::StrFormat("  %+.1f %%", 100 * (after / before - 1)));
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string SideText(const Json& side) {
  if (side.is_null()) return "none";
  return side.is_number() ? ValueText("bytes", NumberOf(side)) : Shown(side);
}

std::string DifferencesText(const char* title, const Json& differences) {
  std::string text = absl::StrCat(title, differences.empty() ? ": the same\n" : "\n");
  for (const Json& one : differences) {
    const std::string op = Shown(At(one, "op")), axes = Shown(At(one, "axes"));
    absl::StrAppend(&text, "  ", TextOf(At(one, "change")), " ", Shown(At(one, "program")), ": ", op,
                    axes.empty() ? "" : absl::StrCat(" over ", axes), op.empty() ? "" : " of ", Shown(At(one, "name")),
                    TextOf(At(one, "list")) == "outputs" ? " (output)" : "", ": ", SideText(At(one, "before")), " -> ",
                    SideText(At(one, "after")), "\n");
  }
  return text;
}

}  // namespace

Json ComparePlans(const Json& before, const Json& after) {
  Pairs<double> collectives;
  AddCollectives(before, &Pair<double>::before, collectives);
  AddCollectives(after, &Pair<double>::after, collectives);
  Pairs<std::string> shardings;
  AddShardings(before, &Pair<std::string>::before, shardings);
  AddShardings(after, &Pair<std::string>::after, shardings);
  return {{"before", TextOf(At(before, "name"))},
          {"after", TextOf(At(after, "name"))},
          {"numbers", NumbersJson(before, after)},
          {"collectives", Differences(collectives)},
          {"shardings", Differences(shardings)}};
}

std::string ComparisonText(const Json& comparisons) {
  std::string text;
  for (const Json& one : comparisons) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", "plan ", Shown(At(one, "before")), " and plan ",
                    Shown(At(one, "after")), ", per rank and step\n", NumbersText(At(one, "numbers")),
                    DifferencesText("collectives and messages", At(one, "collectives")),
                    DifferencesText("shardings", At(one, "shardings")));
  }
  return text;
}

}  // namespace sgd::page
