// The pieces of SVG drawings.
#pragma once

#include <string>
#include <string_view>

namespace sgd::text {

// The beginning of a drawing of that many pixels, on white; "</svg>\n" ends it.
std::string SvgBegin(double width, double height);

// Text whose first character's baseline begins at (x, y); `anchor` is "start", "middle" or "end".
std::string SvgText(double x, double y, std::string_view text, std::string_view anchor = "start");

// A text that may hold any bytes, as content of an element: markup is escaped, bytes that do not print become "?".
std::string SvgEscape(std::string_view text);

}  // namespace sgd::text
