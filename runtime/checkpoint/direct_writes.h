// Writes to a file that go on while their caller does other things: the asynchronous I/O of Linux, which needs no
// thread where writes go past the page cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"

namespace sgd::checkpoint {

class DirectWrites {
 public:
  // Repairs a write that the system has not done, or not all of it: `error` is its number, or 0, and `bytes` are those
  // that are missing.
  using Redo = std::function<absl::Status(std::span<const std::byte> bytes, uint64_t offset, int error)>;

  // Of the open `file`, which is borrowed. Null where the system has no such writes, or no room for more.
  static std::unique_ptr<DirectWrites> Create(int file, Redo redo);
  // Waits for those that are in flight.
  ~DirectWrites();
  DirectWrites(const DirectWrites&) = delete;
  DirectWrites& operator=(const DirectWrites&) = delete;

  // Begins to write `bytes`, which nobody changes until it has ended; first waits for one of the others where there are
  // as many as may be. The error of Redo.
  absl::Status Begin(std::span<const std::byte> bytes, uint64_t offset);
  // Waits until none is in flight. The first error of Redo.
  absl::Status Drain();

 private:
  static constexpr size_t kMost = 4;
  struct Write {
    std::span<const std::byte> bytes;
    uint64_t offset = 0;
    bool is_in_flight = false;
  };

  DirectWrites(int file, uint64_t context, Redo redo) : file_(file), context_(context), redo_(std::move(redo)) {}
  absl::Status EndOne();

  const int file_;
  const uint64_t context_;  // the system's
  const Redo redo_;
  std::array<Write, kMost> writes_;
  size_t in_flight_ = 0;
};

}  // namespace sgd::checkpoint
