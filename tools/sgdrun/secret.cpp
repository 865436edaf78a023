// A small file or a variable.
#include "tools/sgdrun/secret.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace sgd::sgdrun {

absl::StatusOr<std::string> ReadSecret(const std::string& file) {
  constexpr size_t kMax = 4096;
  if (file.empty()) {
    const char* variable = getenv("SGD_SECRET");
    return std::string(variable == nullptr ? "" : variable);
  }
  std::ifstream stream(file, std::ios::binary);
  std::string secret(kMax + 1, '\0');
  stream.read(secret.data(), static_cast<std::streamsize>(secret.size()));
  if (stream.bad() || !stream.is_open()) {
    return absl::InvalidArgumentError(absl::StrCat("--secret-file: ", file, ": ", std::strerror(errno)));
  }
  secret.resize(static_cast<size_t>(stream.gcount()));
  if (secret.size() > kMax) return absl::InvalidArgumentError(absl::StrCat("--secret-file: ", file, " is too long"));
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) return absl::InvalidArgumentError(absl::StrCat("--secret-file: ", file, " is empty"));
  return secret;
}

}  // namespace sgd::sgdrun
