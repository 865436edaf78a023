// Checks JSON documents from outside before a parser builds them.
#ifndef SGD_RUNTIME_JSON_JSON_TEXT_H
#define SGD_RUNTIME_JSON_JSON_TEXT_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sgd::json {

inline constexpr int kMaxJsonDepth = 20;
/// The parser that keeps the order of fields takes time that grows with the square of their number.
inline constexpr size_t kMaxJsonFields = 4096;

/// Returns a fault that parsers accept or do not survive: nesting deeper than kMaxJsonDepth, an object with more
/// than `max_fields` fields, a number above the range of double, or a field that an object has twice. The text
/// completes "FILE is ...". Returns nullopt if there is none, or if a syntax error comes first: the parser reports
/// that.
std::optional<std::string> FindJsonFault(std::string_view text, size_t max_fields = kMaxJsonFields);

}  // namespace sgd::json

#endif
