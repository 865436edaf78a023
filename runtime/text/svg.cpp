#include "runtime/text/svg.h"

#include <cstdio>

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

}  // namespace sgd::text
