#include "runtime/text/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sgd::text {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// By Levenshtein: `row` has the distances of the beginnings of `b` from the beginning of `a` read so far.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (Lower(a[i]) == Lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view NearestName(std::string_view name, std::span<const std::string_view> names) {
  std::string_view nearest;
  size_t least = std::min(std::max<size_t>(2, name.size() / 2) + 1, name.size());
  for (const std::string_view candidate : names) {
    const size_t distance = Distance(name, candidate);
    if (distance < least) nearest = candidate, least = distance;
  }
  return nearest;
}

}  // namespace sgd::text
