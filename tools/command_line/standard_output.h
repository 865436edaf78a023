// Standard output of tools whose results may be read in part, as by `| head`.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace sgd::tools {

// Whether standard output is a pipe or socket that nobody reads any more: a reader that has what it wants.
inline bool IsReaderGone() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

// Whether everything was written, or its reader has gone. Tools that write ignore SIGPIPE.
inline bool FlushOutput() { return (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) || IsReaderGone(); }

// Writes a text and flushes it; likewise.
inline bool PrintOutput(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return FlushOutput();
}

}  // namespace sgd::tools
