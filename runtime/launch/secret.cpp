// A small file or a variable.
#include "runtime/launch/secret.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::launch {
namespace {

constexpr size_t kLeast = 16;  // bytes: who tries secrets tries short ones
constexpr size_t kMost = 4096;

template <typename... Parts>
absl::Status Fault(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckLength(const std::string& source, size_t length) {
  if (length >= kLeast) return absl::OkStatus();
  return Fault(source, " is a secret of ", length, length == 1 ? " byte" : " bytes", ", expected at least ", kLeast,
               "; make one with: openssl rand -hex 32");
}

// As ssh does with keys: what others can read is no secret. A file of another owner, such as one that a cluster puts
// there, may be its group's.
absl::Status CheckMode(const std::string& file, const struct stat& info) {
  const mode_t others = info.st_mode & (info.st_uid == geteuid() ? 077 : 007);
  if (others == 0) return absl::OkStatus();
  return Fault("--secret-file: ", file, " can be used by others than its owner (mode ",
               absl::StrFormat("%04o", info.st_mode & 07777), "); chmod 600 ", file,
               ", and change the secret if others may have read it");
}

absl::StatusOr<std::string> ReadFile(const std::string& file) {
  // Not blocking, so that a pipe is refused instead of waited for.
  const comm::UniqueFd descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!descriptor.valid() || fstat(descriptor.get(), &info) != 0) {
    return Fault("--secret-file: ", file, ": ", std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) return Fault("--secret-file: ", file, " is not a regular file");
  if (absl::Status status = CheckMode(file, info); !status.ok()) return status;
  std::string secret(kMost + 1, '\0');
  const ssize_t count = read(descriptor.get(), secret.data(), secret.size());
  if (count < 0) return Fault("--secret-file: ", file, ": ", std::strerror(errno));
  secret.resize(static_cast<size_t>(count));
  if (secret.size() > kMost) return Fault("--secret-file: ", file, " is too long");
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) return Fault("--secret-file: ", file, " is empty");
  if (absl::Status status = CheckLength(absl::StrCat("--secret-file: ", file), secret.size()); !status.ok())
    return status;
  return secret;
}

}  // namespace

absl::StatusOr<std::string> ReadSecret(const std::string& file) {
  if (!file.empty()) return ReadFile(file);
  const char* variable = getenv("SGD_SECRET");
  const std::string secret = variable == nullptr ? "" : variable;
  if (secret.empty()) return secret;
  if (absl::Status status = CheckLength("SGD_SECRET", secret.size()); !status.ok()) return status;
  return secret;
}

}  // namespace sgd::launch
