// Sums over instructions, then the largest sums.
#include "tools/sgdrun/profile_table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace sgd::sgdrun {
namespace {

constexpr size_t kRows = 10;
constexpr size_t kWidestName = 40;

struct Row {
  std::string name, location, scope;
  int64_t stage = -1;
  double microseconds = 0, flops = 0, bytes = 0;  // of a step
};

// Its end is cut off where it is long.
std::string Short(const std::string& name) {
  return name.size() <= kWidestName ? name : absl::StrCat(name.substr(0, kWidestName - 3), "...");
}

std::string PlaceOf(const Row& row) {
  return absl::StrCat(row.location, row.location.empty() || row.scope.empty() ? "" : ", ", row.scope);
}

Row RowOf(const nlohmann::json& line) {
  const std::string op = line.value("op", ""), what = line.value("what", "");
  const auto executions = static_cast<double>(line.value("executions", uint64_t{1}));
  return {.name = what.empty()                             ? op
                  : op == "launch" || op == "launch_group" ? what
                                                           : absl::StrCat(op, " ", what),
          .location = line.value("loc", ""),
          .scope = line.value("scope", ""),
          .stage = line.value("stage", int64_t{-1}),
          .microseconds = line.value("microseconds", 0.0),
          .flops = line.value("flops", 0.0) * executions,
          .bytes = line.value("bytes", 0.0) * executions};
}

}  // namespace

std::string ProfileTable(const std::vector<std::string>& lines) {
  std::map<std::tuple<std::string, std::string, std::string, int64_t>, Row> sums;
  std::map<int64_t, double> totals;  // by stage
  for (const std::string& text : lines) {
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) continue;
    const Row row = RowOf(line);
    Row& sum = sums.try_emplace({row.name, row.location, row.scope, row.stage},
                                Row{row.name, row.location, row.scope, row.stage})
                   .first->second;
    sum.microseconds += row.microseconds, sum.flops += row.flops, sum.bytes += row.bytes;
    totals[row.stage] += row.microseconds;
  }
  std::vector<Row> rows;
  for (const auto& [key, row] : sums) rows.push_back(row);
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tie(b.microseconds, a.name, a.location) < std::tie(a.microseconds, b.name, b.location);
  });
  rows.resize(std::min(rows.size(), kRows));
  size_t width = 4;
  for (Row& row : rows) {
    if (row.stage >= 0) row.name = absl::StrCat("stage ", row.stage, ": ", row.name);
    row.name = Short(row.name);
    width = std::max(width, row.name.size());
  }
  std::string table = absl::StrFormat("%-*s  %9s  %6s  %8s  %8s  %s\n", width, "name", "ms", "share", "GFLOP/s", "GB/s",
                                      "source, scope");
  for (const Row& row : rows) {
    const double nanoseconds = row.microseconds * 1e3;
    const auto rate = [&](double amount) {
      return nanoseconds > 0 && amount > 0 ? absl::StrFormat("%.4g", amount / nanoseconds) : std::string("-");
    };
    absl::StrAppendFormat(&table, "%-*s  %9.4f  %4.1f %%  %8s  %8s  %s\n", width, row.name, row.microseconds / 1e3,
                          totals[row.stage] > 0 ? 100 * row.microseconds / totals[row.stage] : 0, rate(row.flops),
                          rate(row.bytes), PlaceOf(row));
  }
  return table;
}

}  // namespace sgd::sgdrun
