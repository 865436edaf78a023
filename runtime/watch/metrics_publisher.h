// Publishes a job's status for Prometheus: in a file that is replaced every other second, and over HTTP on loopback.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::watch {

struct MetricsOptions {
  std::string file = "";  // empty: none
  uint32_t port = 0;      // 0: none
  absl::Duration every = absl::Seconds(2);
  std::function<std::string()> text = nullptr;  // of the metrics now; called on a thread
  // Called once, on a thread, when the file cannot be written.
  std::function<void(const std::string& note)> note = nullptr;
};

// A thread that answers one request at a time: GET / or /metrics, at most 4 KiB, within a second. Every answer closes
// its connection.
class MetricsPublisher {
 public:
  // The first file is written at once. Errors of the file's path and of the port, which name the flags.
  static absl::StatusOr<std::unique_ptr<MetricsPublisher>> Start(MetricsOptions options);
  // Writes the file for the last time.
  ~MetricsPublisher();
  MetricsPublisher(const MetricsPublisher&) = delete;
  MetricsPublisher& operator=(const MetricsPublisher&) = delete;

 private:
  explicit MetricsPublisher(MetricsOptions options) : options_(std::move(options)) {}
  absl::Status Listen();
  absl::Status WriteFile() const;
  void WriteAndNote();
  void Run();
  void Answer(int connection) const;

  const MetricsOptions options_;
  comm::UniqueFd listener_, stop_;
  bool has_failed_ = false;  // the last write of the file
  std::thread thread_;
};

// The text at `path`, replaced as a whole; not synced, since it is old in a moment.
absl::Status ReplaceText(const std::string& path, const std::string& text);

// The body of http://127.0.0.1:PORT/metrics, at most 1 MiB; waits for two seconds.
absl::StatusOr<std::string> FetchMetrics(uint32_t port);

}  // namespace sgd::watch
