// Manifest to and from JSON; the checksum covers the compact text with sorted keys and without the
// checksum itself.
#include "runtime/checkpoint/manifest.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/artifact/container.h"
#include "runtime/json/parse_json.h"

namespace sgd::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kFormat = 2;        // one file of tensors
constexpr uint64_t kPiecesFormat = 3;  // several files of pieces
constexpr uint64_t kNewestFormat = 4;  // one file or several, compressed
constexpr uint64_t kOldestFormat = 1;  // with SHA-256 of the tensors
constexpr char kXxh3[] = "state_xxh3";
constexpr char kSha256[] = "state_sha256";
constexpr char kFiles[] = "files";
constexpr char kCompression[] = "compression";
constexpr char kZstd[] = "zstd";
// Of frames: more would be read for a few bytes, or the index grow.
constexpr uint64_t kLeastFrame = uint64_t{4} << 10, kLargestFrame = uint64_t{64} << 20;
constexpr char kChecksum[] = "checksum";
constexpr uint64_t kMostSteps = uint64_t{1} << 53;  // plus those of a run, they fit in 64 bits

absl::StatusOr<std::string> Checksum(const Json& json) {
  const std::string text = json::WriteJson(json);
  absl::StatusOr<artifact::Hash> hash = artifact::Sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  if (!hash.ok()) return hash.status();
  return artifact::HexHash(*hash);
}

// Fetches a field of the wanted kind; clears `ok` when it is missing or of another kind.
std::string StringField(const Json& json, const char* key, bool& ok) {
  auto at = json.find(key);
  if (at == json.end() || !at->is_string()) {
    ok = false;
    return "";
  }
  return at->get<std::string>();
}

uint64_t NumberField(const Json& json, const char* key, bool& ok) {
  auto at = json.find(key);
  if (at == json.end() || !at->is_number_unsigned()) {
    ok = false;
    return 0;
  }
  return at->get<uint64_t>();
}

bool ReadMesh(const Json& json, std::vector<std::pair<std::string, uint32_t>>& mesh) {
  auto at = json.find("mesh");
  if (at == json.end() || !at->is_array()) return false;
  for (const Json& axis : *at) {
    if (!axis.is_array() || axis.size() != 2 || !axis[0].is_string() || !axis[1].is_number_unsigned()) return false;
    mesh.emplace_back(axis[0].get<std::string>(), axis[1].get<uint32_t>());
  }
  return true;
}

// Of format 3, or of format 4, whose files `are_compressed`.
bool ReadFiles(const Json& json, bool are_compressed, std::vector<StateFile>& files) {
  const auto at = json.find(kFiles);
  if (at == json.end() || !at->is_array() || at->size() < (are_compressed ? 1 : 2)) return false;
  bool ok = true;
  for (const Json& file : *at) {
    if (!file.is_object()) return false;
    files.push_back({StringField(file, "name", ok), NumberField(file, "bytes", ok), StringField(file, "xxh3", ok)});
    if (are_compressed) {
      files.back().stored_bytes = NumberField(file, "stored_bytes", ok);
      files.back().stored_checksum = StringField(file, "stored_xxh3", ok);
      ok = ok && files.back().is_compressed();
    }
    // No other path than one in the folder.
    const std::string name =
        at->size() == 1 ? kStateName
                        : StateName(static_cast<uint32_t>(files.size() - 1), static_cast<uint32_t>(at->size()));
    ok = ok && files.back().name == absl::StrCat(name, are_compressed ? kCompressedSuffix : "");
  }
  return ok;
}

bool ReadFrames(const Json& json, uint64_t& frame_bytes) {
  bool ok = true;
  frame_bytes = NumberField(json, "frame_bytes", ok);
  return StringField(json, kCompression, ok) == kZstd && ok && frame_bytes >= kLeastFrame &&
         frame_bytes <= kLargestFrame;
}

void WriteFiles(const Manifest& manifest, Json& json) {
  const std::vector<StateFile>& files = manifest.files;
  if (manifest.are_compressed()) {
    json[kCompression] = kZstd;
    json["frame_bytes"] = manifest.frame_bytes;
  } else if (files.size() == 1) {
    json["state_bytes"] = files[0].bytes;
    json[kXxh3] = files[0].checksum;
    return;
  }
  Json& list = json[kFiles] = Json::array();
  for (const StateFile& file : files) {
    Json& one = list.emplace_back(Json{{"name", file.name}, {"bytes", file.bytes}, {"xxh3", file.checksum}});
    if (!file.is_compressed()) continue;
    one["stored_bytes"] = file.stored_bytes;
    one["stored_xxh3"] = file.stored_checksum;
  }
}

}  // namespace

std::string StateName(uint32_t index, uint32_t count) {
  return absl::StrFormat("state-%05d-of-%05d.safetensors", index + 1, count);
}

std::string ManifestJson(const Manifest& manifest) {
  const TrainingPoint& point = manifest.point;
  Json mesh = Json::array();
  for (const auto& [name, size] : point.mesh) mesh.push_back(Json::array({name, size}));
  const uint64_t format = manifest.are_compressed() ? kNewestFormat : manifest.has_pieces() ? kPiecesFormat : kFormat;
  Json json = {{"format", format},
               {"step", point.step},
               {"seed", point.seed},
               {"program", point.program},
               {"artifact_hash", point.artifact_hash},
               {"mesh", mesh},
               {"feed", point.feed},
               {"carry", point.carry}};
  WriteFiles(manifest, json);
  for (const auto& [name, value] : point.metrics) {
    if (std::isfinite(value)) json["metrics"][name] = value;
  }
  absl::StatusOr<std::string> checksum = Checksum(json);
  // Without the digest the manifest would be refused when read, which is the honest outcome.
  if (checksum.ok()) json[kChecksum] = *checksum;
  return json::WriteJson(json, 1) + "\n";
}

absl::StatusOr<Manifest> ParseManifest(std::string_view text) {
  absl::StatusOr<Json> parsed = json::ParseJson(text);
  if (!parsed.ok()) return absl::InvalidArgumentError(absl::StrCat("is ", parsed.status().message()));
  Json json = *std::move(parsed);
  if (!json.is_object()) return absl::InvalidArgumentError("is not a JSON object; it may be truncated");
  bool ok = true;
  const uint64_t format = NumberField(json, "format", ok);
  if (ok && (format < kOldestFormat || format > kNewestFormat)) {
    return absl::InvalidArgumentError(
        absl::StrCat("has format ", format, ", but this version reads formats ", kOldestFormat, " to ", kNewestFormat,
                     "; expected a checkpoint of this version; resume with the version that saved it"));
  }
  const std::string expected = StringField(json, kChecksum, ok);
  json.erase(kChecksum);
  absl::StatusOr<std::string> checksum = Checksum(json);
  if (!checksum.ok()) return checksum.status();
  if (!ok || *checksum != expected)
    return absl::DataLossError(
        "is corrupt: its checksum does not match; expected the file that was saved; resume from another checkpoint");

  Manifest manifest;
  manifest.point.step = NumberField(json, "step", ok);
  manifest.point.seed = NumberField(json, "seed", ok);
  manifest.point.program = StringField(json, "program", ok);
  manifest.point.artifact_hash = StringField(json, "artifact_hash", ok);
  manifest.point.feed = StringField(json, "feed", ok);
  if (json.contains("carry")) manifest.point.carry = StringField(json, "carry", ok);
  manifest.checksum = format == kOldestFormat ? Manifest::Checksum::kSha256 : Manifest::Checksum::kXxh3;
  if (format >= kPiecesFormat) {
    const bool are_compressed = format == kNewestFormat;
    ok = ReadFiles(json, are_compressed, manifest.files) && ok;
    if (are_compressed) ok = ReadFrames(json, manifest.frame_bytes) && ok;
  } else {
    const char* checksum_key = format == kOldestFormat ? kSha256 : kXxh3;
    manifest.files = {{kStateName, NumberField(json, "state_bytes", ok), StringField(json, checksum_key, ok)}};
  }
  if (const auto metrics = json.find("metrics"); metrics != json.end() && metrics->is_object()) {
    for (const auto& [name, value] : metrics->items()) {
      if (value.is_number()) manifest.point.metrics.emplace_back(name, value.get<double>());
    }
  }
  if (!ReadMesh(json, manifest.point.mesh) || !ok)
    return absl::InvalidArgumentError(
        "lacks fields of its format; expected a manifest that sgdrun wrote; resume from another checkpoint");
  if (manifest.point.step > kMostSteps) {
    return absl::InvalidArgumentError(absl::StrCat("is of step ", manifest.point.step, "; expected at most ",
                                                   kMostSteps, "; resume from another checkpoint"));
  }
  return manifest;
}

}  // namespace sgd::checkpoint
