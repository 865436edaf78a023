// The parser of nlohmann-json keeps no call stack per level, so any depth may come in.
#include "runtime/json/json_text.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace sgd::json {
namespace {

using Json = nlohmann::json;

/// The words for a syntax error, by the first of these phrases in what the parser says.
constexpr std::pair<std::string_view, std::string_view> kSyntaxErrors[] = {
    {"missing closing quote", "Unterminated string"},
    {"control character", "Control character in string"},
    {"UTF-8", "Invalid UTF-8 sequence"},
    {"'\\u' must", "Invalid \\u escape sequence"},
    {"surrogate", "Invalid \\u escape sequence"},
    {"after backslash", "Invalid escape sequence"},
    {"parsing object key", "Expected object key"},
    {"parsing object separator", "Expected : after object key"},
    {"parsing object", "Expected , or } after object property"},
    {"parsing array", "Expected , or ] after array element"},
    {"unexpected end of input", "Unexpected EOF"},
    {"invalid number", "Invalid JSON value (number?)"},
};

std::string DescribeSyntaxError(std::string_view said) {
  if (said.ends_with("; expected end of input")) return "Text after end of document";
  said = said.substr(0, said.find("; last read: "));  // what follows is the document's
  for (const auto& [phrase, words] : kSyntaxErrors)
    if (said.find(phrase) != said.npos) return std::string(words);
  return "Invalid JSON value";
}

/// Follows the nesting; ends the parse at the first fault.
class FaultFinder : public nlohmann::json_sax<Json> {
 public:
  FaultFinder(std::string_view text, size_t max_fields) : text_(text), max_fields_(max_fields) {}

  std::optional<JsonFault> fault;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    constexpr int kOverflow = 406;
    if (error.id == kOverflow) return Fail("not JSON: a number is out of range; expected a smaller one");
    const std::string_view before = text_.substr(0, position);  // the position behind the last character is one too far
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = before.size() - (before.rfind('\n') + 1);
    fault = {"not JSON: [" + std::to_string(line) + ":" + std::to_string(column) +
                 ", byte=" + std::to_string(before.size()) + "]: " + DescribeSyntaxError(error.what()),
             /*is_syntax=*/true};
    return false;
  }

  bool key(string_t& name) override {
    const bool is_new = fields_.back().insert(name).second;
    if (!is_new)
      return Fail("ambiguous: an object has the field " + ShowJson(Json(name)) + " twice; expected each field once");
    return fields_.back().size() <= max_fields_ ||
           Fail("too large: an object has more than " + std::to_string(max_fields_) + " fields; expected fewer fields");
  }

 private:
  bool Enter() {
    fields_.emplace_back();
    return fields_.size() <= kMaxJsonDepth ||
           Fail("nested more than " + std::to_string(kMaxJsonDepth) + " deep; expected fewer levels");
  }
  bool Leave() {
    fields_.pop_back();
    return true;
  }
  bool Fail(std::string why) {
    fault = {std::move(why)};
    return false;
  }

  const std::string_view text_;
  const size_t max_fields_;
  std::vector<std::set<std::string>> fields_;  // of the objects around, empty for arrays
};

}  // namespace

std::optional<JsonFault> FindJsonFault(std::string_view text, size_t max_fields) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) return JsonFault{"empty", /*is_syntax=*/true};
  FaultFinder finder(text, max_fields);
  Json::sax_parse(text.begin(), text.end(), &finder);
  return finder.fault;
}

}  // namespace sgd::json
