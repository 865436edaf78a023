// Knows which file a thread reads, and since when: whoever waits for that thread can name the file.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace sgd::data {

// One thread reads under it; others may ask. Not copied, since it holds a lock.
class ReadWatch {
 public:
  using OnSlow = std::function<void(const std::string& path, uint64_t bytes, absl::Duration time)>;

  ReadWatch() = default;
  // Calls `on_slow`, on the reading thread, after each read that has taken `slow` or longer.
  ReadWatch(absl::Duration slow, OnSlow on_slow) : slow_(slow), on_slow_(std::move(on_slow)) {}

  struct Reading {
    std::string path;
    absl::Duration time;  // since it began
  };
  // The read in flight.
  std::optional<Reading> current() const;

  // Of all reads so far.
  struct Total {
    uint64_t reads = 0, bytes = 0;
  };
  Total total() const;

 private:
  friend class WatchedRead;

  const absl::Duration slow_ = absl::InfiniteDuration();
  const OnSlow on_slow_;
  mutable std::mutex mutex_;
  const std::string* path_ = nullptr;  // null between reads
  absl::Time begin_;
  Total total_;
};

// A read of a file, from its construction to its destruction. `path` must outlive it.
class WatchedRead {
 public:
  WatchedRead(ReadWatch& watch, const std::string& path, uint64_t bytes);
  ~WatchedRead();
  WatchedRead(const WatchedRead&) = delete;
  WatchedRead& operator=(const WatchedRead&) = delete;

 private:
  ReadWatch& watch_;
  const uint64_t bytes_;
};

}  // namespace sgd::data
