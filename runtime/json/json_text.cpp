// The parser of nlohmann-json keeps no call stack per level, so any depth may come in.
#include "runtime/json/json_text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace sgd::json {
namespace {

using Json = nlohmann::json;

/// Follows the nesting; ends the parse at the first fault.
class FaultFinder : public nlohmann::json_sax<Json> {
 public:
  explicit FaultFinder(size_t max_fields) : max_fields_(max_fields) {}

  std::optional<std::string> fault;

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
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    constexpr int kOverflow = 406;
    if (error.id == kOverflow) fault = "not JSON: a number is out of range; expected a smaller one";
    return false;
  }

  bool key(string_t& name) override {
    const bool is_new = fields_.back().insert(name).second;
    if (is_new && fields_.back().size() > max_fields_) {
      fault = "too large: an object has more than " + std::to_string(max_fields_) + " fields; expected fewer fields";
      return false;
    }
    if (is_new) return true;
    constexpr size_t kShown = 60;
    std::string shown = Json(name).dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
    if (shown.size() > kShown) shown = shown.substr(0, kShown - 3) + "...";
    fault = "ambiguous: an object has the field " + shown + " twice; expected each field once";
    return false;
  }

 private:
  bool Enter() {
    fields_.emplace_back();
    if (fields_.size() <= kMaxJsonDepth) return true;
    fault = "nested more than " + std::to_string(kMaxJsonDepth) + " deep; expected fewer levels";
    return false;
  }
  bool Leave() {
    fields_.pop_back();
    return true;
  }

  const size_t max_fields_;
  std::vector<std::set<std::string>> fields_;  // of the objects around, empty for arrays
};

}  // namespace

std::optional<std::string> FindJsonFault(std::string_view text, size_t max_fields) {
  FaultFinder finder(max_fields);
  Json::sax_parse(text.begin(), text.end(), &finder);
  return finder.fault;
}

}  // namespace sgd::json
