// zlib's one-call functions; sizes are checked before memory is taken.
#include "runtime/page/records.h"

#include <zlib.h>

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/json/parse_json.h"

namespace sgd::page {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;
// zlib's own bound: more does not come out of a byte.
constexpr uint64_t kMostInflation = 1032;

absl::Status Invalid(const artifact::ArtifactFile& file, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(file.path(), ": its records are ", what, "; expected those that sgdc writes; compile it again"));
}

}  // namespace

std::vector<uint8_t> PackRecords(std::string_view json) {
  uLongf size = compressBound(json.size());
  std::vector<uint8_t> packed(sizeof(uint64_t) + size);
  for (size_t i = 0; i < sizeof(uint64_t); ++i) packed[i] = static_cast<uint8_t>(uint64_t{json.size()} >> (8 * i));
  const int code = compress2(packed.data() + sizeof(uint64_t), &size, reinterpret_cast<const Bytef*>(json.data()),
                             json.size(), Z_BEST_COMPRESSION);
  packed.resize(code == Z_OK ? sizeof(uint64_t) + size : 0);
  return packed;
}

absl::StatusOr<nlohmann::json> UnpackRecords(const artifact::ArtifactFile& file) {
  const auto* packed = file.root().records();
  if (artifact::Size(packed) == 0) {
    return absl::NotFoundError(absl::StrCat(
        file.path(), ": has no records of its compilation; expected those that sgdc writes; compile it again"));
  }
  uint64_t length = 0;
  if (packed->size() < sizeof(length)) return Invalid(file, "too short");
  for (uint32_t i = 0; i < sizeof(length); ++i) length |= uint64_t{packed->Get(i)} << (8 * i);
  const uint64_t rest = packed->size() - sizeof(length);
  if (length > kMostBytes || length > kMostInflation * rest) return Invalid(file, "of a size that cannot be");
  std::string text(length, '\0');
  uLongf size = length;
  const int code = uncompress(reinterpret_cast<Bytef*>(text.data()), &size, packed->data() + sizeof(length),
                              static_cast<uLong>(rest));
  if (code != Z_OK || size != length) return Invalid(file, "damaged");
  absl::StatusOr<nlohmann::json> json = json::ParseJson(text, json::kAnyFields);
  if (!json.ok()) return Invalid(file, std::string(json.status().message()));
  if (!json->is_object()) return Invalid(file, "no JSON object");
  return *std::move(json);
}

}  // namespace sgd::page
