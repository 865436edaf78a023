#include "tests/fuzz/isolation.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

using namespace mlir::sgd::fuzz;

namespace {

void writeAll(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written <= 0) _exit(3);
    done += static_cast<size_t>(written);
  }
}

}  // namespace

Worker::Worker(const std::function<void(const Report&)>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    perror("pipe");
    exit(3);
  }
  process = fork();
  if (process == 0) {
    ::close(ends[0]);
    // The output of a crash is of no use without the program, which is saved.
    if (int null = ::open("/dev/null", O_WRONLY); null >= 0 && !getenv("SGD_FUZZ_VERBOSE")) ::dup2(null, STDERR_FILENO);
    work([&](std::string line) {
      for (char& c : line)
        if (c == '\n') c = ' ';
      writeAll(ends[1], line + "\n");
    });
    _exit(0);
  }
  ::close(ends[1]);
  pipe = ends[0];
  ::fcntl(pipe, F_SETFL, O_NONBLOCK);
}

Worker::~Worker() {
  if (process > 0) {
    kill();
    wait();
  }
  ::close(pipe);
}

std::vector<std::string> Worker::readLines(bool waits) {
  pollfd ready{pipe, POLLIN, 0};
  if (waits) ::poll(&ready, 1, -1);
  char chunk[4096];
  ssize_t size;
  while ((size = ::read(pipe, chunk, sizeof(chunk))) > 0) buffer.append(chunk, static_cast<size_t>(size));
  if (size == 0) isAtEnd = true;
  std::vector<std::string> lines;
  for (size_t end; (end = buffer.find('\n')) != std::string::npos; buffer.erase(0, end + 1))
    lines.push_back(buffer.substr(0, end));
  return lines;
}

std::string Worker::wait() {
  int status = 0;
  if (process <= 0 || ::waitpid(process, &status, 0) != process) return "cannot be waited for";
  process = -1;
  if (WIFSIGNALED(status)) return std::string("crash: ") + strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "crash: exit code " + std::to_string(WEXITSTATUS(status));
  return "";
}

void Worker::kill() { ::kill(process, SIGKILL); }

std::optional<std::string> mlir::sgd::fuzz::runIsolated(const std::function<std::string()>& work, double seconds,
                                                        std::string& error) {
  Worker worker([&](const Worker::Report& report) { report(work()); });
  auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::vector<std::string> lines;
  while (lines.empty() && !worker.hasEnded()) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      error = "hang: more than " + std::to_string(static_cast<int>(seconds)) + " s";
      return std::nullopt;
    }
    pollfd ready{worker.fd(), POLLIN, 0};
    ::poll(&ready, 1, static_cast<int>(left));
    lines = worker.readLines();
  }
  if (!lines.empty()) return lines.front();
  error = worker.wait();
  return std::nullopt;
}
