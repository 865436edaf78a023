// The file: a line that says what it is, the SHA-256 of all that follows, whose choices they are, the choices.
#include "runtime/exec/algorithm_cache.h"

#include <cctype>
#include <span>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/cache_file.h"
#include "runtime/artifact/container.h"

namespace sgd::exec {
namespace {

constexpr char kMagic[] = "sgd algorithms 1\n";

std::string FileNameOf(const std::string& text) {
  std::string name;
  for (char c : text) name += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '-';
  return name;
}

std::string_view TextOf(const artifact::Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

absl::StatusOr<artifact::Hash> HashOf(std::string_view text) {
  return artifact::Sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

AlgorithmCache::AlgorithmCache(const artifact::ArtifactFile& file, int32_t stage, const std::string& fingerprint,
                               device::AlgorithmChoices& choices)
    : path_(absl::StrCat(file.path(), file.root().plan() == nullptr ? "" : absl::StrCat(".", FileNameOf(file.plan())),
                         ".", FileNameOf(choices.device_name()), stage < 0 ? "" : absl::StrCat(".stage", stage),
                         ".algorithms")),
      identity_(absl::StrCat(artifact::HexHash(file.hash()), "\n", file.plan(), "\n", fingerprint, "\n")),
      choices_(choices) {}

absl::Status AlgorithmCache::Load() {
  const absl::StatusOr<std::string> bytes = artifact::ReadCacheFile(path_);
  if (!bytes.ok()) return bytes.status();
  std::string_view text = *bytes;
  const auto damaged = [&] { return absl::InvalidArgumentError(absl::StrCat(path_, ": damaged")); };
  if (!TakePrefix(text, kMagic) || text.size() < sizeof(artifact::Hash)) return damaged();
  const std::string_view hash = text.substr(0, sizeof(artifact::Hash));
  text.remove_prefix(hash.size());
  absl::StatusOr<artifact::Hash> actual = HashOf(text);
  if (!actual.ok()) return actual.status();
  if (TextOf(*actual) != hash) return damaged();
  if (!TakePrefix(text, identity_))
    return absl::InvalidArgumentError(absl::StrCat(path_, ": of another artifact, device or library"));
  return choices_.Restore(text);
}

absl::Status AlgorithmCache::Save() {
  if (choices_.chosen() == saved_) return absl::OkStatus();
  const std::string body = identity_ + choices_.Save();
  absl::StatusOr<artifact::Hash> hash = HashOf(body);
  if (!hash.ok()) return hash.status();
  absl::Status written = artifact::WriteCacheFile(
      path_, absl::StrCat(kMagic, absl::string_view(TextOf(*hash).data(), hash->size()), body));
  if (!written.ok()) return written;
  saved_ = choices_.chosen();
  return absl::OkStatus();
}

}  // namespace sgd::exec
