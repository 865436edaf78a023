#include "runtime/json/parse_json.h"

#include <utility>

#include "absl/status/status.h"

namespace sgd::json {

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text, size_t max_fields) {
  if (auto fault = FindJsonFault(text, max_fields)) return absl::InvalidArgumentError(*fault);
  nlohmann::json json = nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("not JSON; it may be truncated");
  return json;
}

}  // namespace sgd::json
