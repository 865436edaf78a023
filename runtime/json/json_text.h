// Checks JSON documents from outside before a parser builds them.
#ifndef SGD_RUNTIME_JSON_JSON_TEXT_H
#define SGD_RUNTIME_JSON_JSON_TEXT_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace sgd::json {

inline constexpr int kMaxJsonDepth = 20;
/// The parser that keeps the order of fields takes time that grows with the square of their number.
inline constexpr size_t kMaxJsonFields = 4096;

struct JsonFault {
  std::string text;        ///< completes "FILE is ..."
  bool is_syntax = false;  ///< "not JSON: [LINE:COLUMN, byte=OFFSET]: ...", these three behind the character at fault
};

/// Returns the first fault: a syntax error, nesting deeper than kMaxJsonDepth, an object with more than `max_fields`
/// fields, a number above the range of double, or a field that an object has twice. Text without a fault can be parsed.
std::optional<JsonFault> FindJsonFault(std::string_view text, size_t max_fields = kMaxJsonFields);

/// Writes `json` with `indent` spaces a level, or in one line if negative. Never throws: U+FFFD replaces invalid UTF-8.
template <typename Json>
std::string WriteJson(const Json& json, int indent = -1, bool ensure_ascii = false) {
  return json.dump(indent, ' ', ensure_ascii, Json::error_handler_t::replace);
}

/// A value as messages show it: ASCII text, cut after 60 characters.
template <typename Json>
std::string ShowJson(const Json& json) {
  std::string text = WriteJson(json, -1, /*ensure_ascii=*/true);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

}  // namespace sgd::json

#endif
