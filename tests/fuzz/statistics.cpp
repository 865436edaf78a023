#include "tests/fuzz/statistics.h"

#include <algorithm>
#include <iomanip>
#include <regex>

using namespace mlir::sgd::fuzz;

namespace {

/// The message without place, numbers, shardings and types, so that alike ones count as one.
std::string generalize(const std::string& message) {
  static const std::regex sharding(R"(#sgd\.sharding<@mesh, \[[^>]*>)"), axes(R"(axis "\w"|axes ("\w"(, )?)+)"),
      type("tensor<[^>]*>"), number("[0-9]+");
  size_t begin = message.find("error: ");
  std::string general = begin == std::string::npos ? message : message.substr(begin + 7);
  for (const auto& [what, name] : {std::pair{&sharding, "SHARDING"}, {&axes, "AXES"}, {&type, "TYPE"}, {&number, "#"}})
    general = std::regex_replace(general, *what, name);
  return general;
}

}  // namespace

void Statistics::add(size_t family, const Features& features, const Outcome& outcome) {
  Counts& counts = families[family];
  if (outcome.isFailure()) {
    ++counts.failed;
  } else if (outcome.kind == Outcome::Kind::Refused) {
    ++counts.refused;
    ++counts.refusals[generalize(outcome.message)];
  } else {
    ++counts.agrees;
    counts.uneven += features.hasUneven;
    counts.severalAxes += features.hasSeveralAxes;
  }
}

void Statistics::print(std::ostream& stream, size_t numRefusals) const {
  stream << "                        agree  refused   failed   (of those that agree: uneven, several axes)\n";
  for (const auto& [family, counts] : families) {
    stream << std::left << std::setw(20) << getFamilies()[family].name << std::right << std::setw(9) << counts.agrees
           << std::setw(9) << counts.refused << std::setw(9) << counts.failed << std::setw(9) << counts.uneven
           << std::setw(9) << counts.severalAxes << "\n";
  }
  for (const auto& [family, counts] : families) {
    std::vector<std::pair<size_t, std::string>> sorted;
    for (const auto& [message, count] : counts.refusals) sorted.emplace_back(count, message);
    std::sort(sorted.rbegin(), sorted.rend());
    for (size_t i = 0; i < std::min(numRefusals, sorted.size()); ++i)
      stream << getFamilies()[family].name << " refused " << sorted[i].first << " times: " << sorted[i].second << "\n";
  }
}

size_t Statistics::getNumFailures() const {
  size_t count = 0;
  for (const auto& [family, counts] : families) count += counts.failed;
  return count;
}

double Statistics::getMostRefused() const {
  double most = 0;
  for (const auto& [family, counts] : families) {
    size_t cases = counts.agrees + counts.refused + counts.failed;
    most = std::max(most, 100.0 * static_cast<double>(counts.refused) / static_cast<double>(cases));
  }
  return most;
}

size_t Statistics::getNumCases() const {
  size_t count = 0;
  for (const auto& [family, counts] : families) count += counts.agrees + counts.refused + counts.failed;
  return count;
}
