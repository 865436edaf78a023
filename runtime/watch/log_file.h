// The log of --log-json as those who watch a run read it, also while it is written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/watch/job_status.h"

namespace sgd::watch {

struct LoggedStep {
  uint64_t step = 0;
  double seconds = 0;
  std::optional<double> loss;  // nothing where it was left out or no number
};

struct LoggedEvent {
  std::string kind;              // "straggler", "resumed", ...
  std::optional<uint64_t> step;  // that it names, else the one after the last step before it
};

struct LogContent {
  std::vector<LoggedStep> steps;  // in the order of the file; steps that were done again are there twice
  std::vector<LoggedEvent> events;

  JobStatus Status() const;
};

// Reads a log, then what is appended to it. Lines that are no JSON, as those that a dead run left unfinished, are left
// out.
class LogFollower {
 public:
  explicit LogFollower(std::string path) : path_(std::move(path)) {}

  // Reads on; from the beginning where the file has become shorter. InvalidArgument for a file with lines of which none
  // is of a log; the system's errors.
  absl::Status Advance();

  const LogContent& content() const { return content_; }

 private:
  std::string path_;
  int64_t offset_ = 0;      // of what was read
  std::string unfinished_;  // the beginning of a line
  bool has_lines_ = false, is_log_ = false;
  LogContent content_;
};

// The log as it is now; errors as of LogFollower.
absl::StatusOr<LogContent> ReadLog(const std::string& path);

}  // namespace sgd::watch
