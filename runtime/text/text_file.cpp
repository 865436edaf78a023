#include "runtime/text/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sgd::text {
namespace {

std::optional<std::string> ReadToEnd(int descriptor, std::string& text) {
  constexpr size_t kChunk = size_t{1} << 20;
  text.clear();
  for (;;) {
    const size_t size = text.size();
    text.resize(size + kChunk);
    const ssize_t got = read(descriptor, text.data() + size, kChunk);
    const int error = errno;
    text.resize(size + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got == 0) return std::nullopt;
    if (got < 0 && error != EINTR) return strerror(error);
  }
}

}  // namespace

std::optional<std::string> ReadTextFile(const std::string& path, std::string& text) {
  // Does not block, so that a pipe is refused instead of waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return strerror(errno);
  struct stat status;
  std::optional<std::string> fault;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    fault = "not a regular file; expected one";
  else
    fault = ReadToEnd(descriptor, text);
  close(descriptor);
  return fault;
}

std::optional<std::string> ReadStandardInput(std::string& text) { return ReadToEnd(STDIN_FILENO, text); }

}  // namespace sgd::text
