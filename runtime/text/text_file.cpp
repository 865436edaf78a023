#include "runtime/text/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace sgd::text {
namespace {

constexpr size_t kNoLimit = SIZE_MAX;

std::optional<std::string> ReadToEnd(int descriptor, size_t most_bytes, std::string& text) {
  constexpr size_t kChunk = size_t{1} << 20;
  text.clear();
  while (text.size() < most_bytes) {
    const size_t size = text.size(), chunk = std::min(kChunk, most_bytes - size);
    text.resize(size + chunk);
    const ssize_t got = read(descriptor, text.data() + size, chunk);
    const int error = errno;
    text.resize(size + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got == 0) return std::nullopt;
    if (got < 0 && error != EINTR) return strerror(error);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ReadTextFile(const std::string& path, std::string& text) {
  return ReadStartOfFile(path, kNoLimit, text);
}

std::optional<std::string> ReadStartOfFile(const std::string& path, size_t most_bytes, std::string& text) {
  // Does not block, so that a pipe is refused instead of waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return strerror(errno);
  struct stat status;
  std::optional<std::string> fault;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    fault = "not a regular file; expected one";
  else
    fault = ReadToEnd(descriptor, most_bytes, text);
  close(descriptor);
  return fault;
}

std::optional<std::string> ReadStandardInput(std::string& text) { return ReadToEnd(STDIN_FILENO, kNoLimit, text); }

}  // namespace sgd::text
