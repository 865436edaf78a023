#include "runtime/json/parse_json.h"

#include "absl/status/status.h"

namespace sgd::json {

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text, size_t max_fields) {
  if (auto fault = FindJsonFault(text, max_fields))
    return absl::InvalidArgumentError(fault->is_syntax ? "not JSON; it may be truncated" : fault->text);
  return nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

}  // namespace sgd::json
