// Parses JSON documents that the runtime reads, under the limits of json_text.h.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/json/json_text.h"

namespace sgd::json {

// The object of a header with one field for each tensor: its parser takes linear time, so any number is accepted.
inline constexpr size_t kAnyFields = SIZE_MAX;

// InvalidArgument for a syntax error and for each fault of FindJsonFault; the message completes "FILE is ...".
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text, size_t max_fields = kMaxJsonFields);

}  // namespace sgd::json
