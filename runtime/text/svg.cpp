#include "runtime/text/svg.h"

#include <cmath>
#include <cstdio>
#include <utility>

namespace sgd::text {
namespace {

std::string Fixed(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, number);
  return text;
}

}  // namespace

std::string SvgBegin(double width, double height) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + Fixed(width, 0) + "\" height=\"" + Fixed(height, 0) +
         "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
}

std::string SvgText(double x, double y, std::string_view text, std::string_view anchor) {
  const std::string attribute = anchor == "start" ? "" : " text-anchor=\"" + std::string(anchor) + "\"";
  return "<text x=\"" + Fixed(x, 1) + "\" y=\"" + Fixed(y, 1) + "\"" + attribute + ">" + SvgEscape(text) + "</text>\n";
}

std::string SvgLine(double x1, double y1, double x2, double y2, std::string_view color) {
  return "<line x1=\"" + Fixed(x1, 1) + "\" y1=\"" + Fixed(y1, 1) + "\" x2=\"" + Fixed(x2, 1) + "\" y2=\"" +
         Fixed(y2, 1) + "\" stroke=\"" + std::string(color) + "\"/>\n";
}

std::string SvgRect(double x, double y, double width, double height, std::string_view color, std::string_view title) {
  const std::string rect = "<rect x=\"" + Fixed(x, 2) + "\" y=\"" + Fixed(y, 1) + "\" width=\"" + Fixed(width, 2) +
                           "\" height=\"" + Fixed(height, 1) + "\" fill=\"" + std::string(color) + "\"";
  return title.empty() ? rect + "/>\n" : rect + "><title>" + SvgEscape(title) + "</title></rect>\n";
}

std::string SvgEscape(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '<' || c == '>' || c == '&') {
      escaped += c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;";
    } else {
      escaped += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return escaped;
}

std::vector<double> AxisTicks(double low, double high, int count) {
  constexpr size_t kMostTicks = 40;
  const double rough = (high - low) / count;
  if (!(rough > 0) || !std::isfinite(rough)) return {};
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; ticks.size() < kMostTicks && (first + i) * step <= high + step * 1e-9; ++i)
    ticks.push_back((first + i) * step);
  return ticks;
}

std::string TimeTick(double seconds, double high) {
  const auto [factor, unit] = high < 1e-6   ? std::pair(1e9, " ns")
                              : high < 1e-3 ? std::pair(1e6, " us")
                              : high < 1    ? std::pair(1e3, " ms")
                                            : std::pair(1.0, " s");
  char text[64];
  std::snprintf(text, sizeof(text), "%.6g", seconds * factor);
  return text + std::string(unit);
}

}  // namespace sgd::text
