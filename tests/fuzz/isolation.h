// Work in a process of its own, so that a crash or a hang is a result like any other.
#ifndef SGD_TESTS_FUZZ_ISOLATION_H
#define SGD_TESTS_FUZZ_ISOLATION_H

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mlir::sgd::fuzz {

/// A forked process that reports lines of text. The forking process must have one thread.
class Worker {
 public:
  /// `work` calls its argument for each line that it has to report.
  using Report = std::function<void(std::string line)>;
  explicit Worker(const std::function<void(const Report&)>& work);
  /// Kills it when it still runs.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int fd() const { return pipe; }
  /// Reads what there is and returns complete lines; `waits` until there is something, or the end.
  std::vector<std::string> readLines(bool waits = false);
  bool hasEnded() const { return isAtEnd; }
  /// How it ended, after hasEnded: empty for a normal end, else the signal or the exit code.
  std::string wait();
  void kill();

 private:
  pid_t process = -1;
  int pipe = -1;
  bool isAtEnd = false;
  std::string buffer;
};

/// The one line that `work` returns when run in a process of its own; what went wrong ("killed by signal 11") in
/// `error` when it does not return within `seconds`.
std::optional<std::string> runIsolated(const std::function<std::string()>& work, double seconds, std::string& error);

}  // namespace mlir::sgd::fuzz

#endif
