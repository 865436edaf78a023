// The file: a line that says what it is, the SHA-256 of all that follows, whose choices they are, the choices.
#include "runtime/exec/algorithm_cache.h"

#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/container.h"

namespace sgd::exec {
namespace {

constexpr char kMagic[] = "sgd algorithms 1\n";

std::string FileNameOf(const std::string& device) {
  std::string name;
  for (char c : device) name += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '-';
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
    : path_(absl::StrCat(file.path(), ".", FileNameOf(choices.device_name()),
                         stage < 0 ? "" : absl::StrCat(".stage", stage), ".algorithms")),
      identity_(absl::StrCat(artifact::HexHash(file.hash()), "\n", fingerprint, "\n")),
      choices_(choices) {}

absl::Status AlgorithmCache::Load() {
  std::ifstream file(path_, std::ios::binary);
  if (!file) return absl::NotFoundError(path_);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string_view text = bytes;
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
  const std::string aside = absl::StrCat(path_, ".", getpid());
  std::ofstream file(aside, std::ios::binary);
  file << kMagic << TextOf(*hash) << body;
  file.close();
  if (!file || std::rename(aside.c_str(), path_.c_str()) != 0) {
    unlink(aside.c_str());
    return absl::UnavailableError(absl::StrCat(path_, ": cannot be written"));
  }
  saved_ = choices_.chosen();
  return absl::OkStatus();
}

}  // namespace sgd::exec
