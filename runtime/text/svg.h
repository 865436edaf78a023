// The pieces of SVG drawings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sgd::text {

// The beginning of a drawing of that many pixels, on white; "</svg>\n" ends it.
std::string SvgBegin(double width, double height);

// Text whose first character's baseline begins at (x, y); `anchor` is "start", "middle" or "end".
std::string SvgText(double x, double y, std::string_view text, std::string_view anchor = "start");

// A line of one pixel; `color` as "#333333".
std::string SvgLine(double x1, double y1, double x2, double y2, std::string_view color);

// A filled rectangle, with a text that viewers show where it is pointed at unless that is empty.
std::string SvgRect(double x, double y, double width, double height, std::string_view color,
                    std::string_view title = "");

// A text that may hold any bytes, as content of an element: markup is escaped, bytes that do not print become "?".
std::string SvgEscape(std::string_view text);

// Round numbers that cover [low, high], low < high, in about `count` steps; at most 40.
std::vector<double> AxisTicks(double low, double high, int count = 5);

// "1.5 ms", "20 us": a tick of an axis of times that ends at `high` seconds.
std::string TimeTick(double seconds, double high);

}  // namespace sgd::text
