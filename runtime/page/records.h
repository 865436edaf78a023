// The compiler's report of a plan, as an artifact keeps it: a JSON document, deflated (Artifact.records). sgdc
// writes it (compiler/report/records.h has its fields), tools read it, runs do not.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "runtime/artifact/reader.h"

namespace sgd::page {

// Eight bytes of the document's length, little endian, and zlib's format. The same text gives the same bytes.
std::vector<uint8_t> PackRecords(std::string_view json);

// NotFound for an artifact without records; InvalidArgument for bytes that PackRecords does not write, or no JSON
// object. The document may have any fields.
absl::StatusOr<nlohmann::json> UnpackRecords(const artifact::ArtifactFile& file);

}  // namespace sgd::page
