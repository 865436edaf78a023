// The unit is chosen after rounding, so that 999.9 us are 1 ms and not 1e+03 us.
#include "runtime/text/amounts.h"

#include <cmath>
#include <cstdio>
#include <iterator>

namespace sgd::text {
namespace {

struct Unit {
  double size;
  const char* name;
};

std::string Format(const char* format, double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value, unit);
  return text;
}

}  // namespace

std::string BytesText(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= (unit == 0 ? 1024 : 1023.995) && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return Format(unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
}

std::string SecondsText(double seconds) {
  constexpr double kHour = 3600;
  if (seconds < 0.9995e-3) return Format("%.3g %s", seconds * 1e6, "us");
  if (seconds < 0.9995) return Format("%.3g %s", seconds * 1e3, "ms");
  return seconds < 2 * kHour ? Format("%.4g %s", seconds, "s") : Format("%.3g %s", seconds / kHour, "h");
}

std::string CountText(double count) {
  for (const Unit& unit : {Unit{1e12, "T"}, Unit{1e9, "G"}, Unit{1e6, "M"}, Unit{1e3, "k"}}) {
    if (std::abs(count) >= unit.size * 0.9995) return Format("%.3g%s", count / unit.size, unit.name);
  }
  return Format("%.3g%s", count, "");
}

}  // namespace sgd::text
