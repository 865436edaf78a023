// Reads the batches of the next steps on a thread of its own, while a step runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/data/feed.h"

namespace sgd::data {

class ReadAhead {
 public:
  // An input of the feed that this rank holds.
  struct Input {
    size_t number;  // of Feed::inputs()
    Shard shard;
  };

  struct Options {
    uint64_t first_step = 0, end_step = 0;  // whose batches are read ahead; others are read when they are asked for
    absl::Duration deadline = absl::Seconds(300);
    // Notes name files whose reads take longer, and files that a step has waited for as long.
    absl::Duration slow = absl::Seconds(1);
    std::function<void(const std::string& note)> note = nullptr;  // called by Take; may be empty
  };

  // ResourceExhausted where there is no thread.
  static absl::StatusOr<std::unique_ptr<ReadAhead>> Start(std::shared_ptr<const Feed> feed, std::vector<Input> inputs,
                                                          const Options& options);
  // Ends the thread. A read that hangs is left to it, with all that it uses.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Waits for the batch of a step and copies it; `targets` are the shards' bytes, by input. An error of the feed, or
  // DeadlineExceeded, with the file that is being read. Steps usually follow one another: after a jump, batches are
  // read anew.
  absl::Status Take(uint64_t step, std::span<const std::span<std::byte>> targets);

  // Bytes of the batches that are kept: at most those of 32, within 64 MiB unless two take more.
  uint64_t buffer_bytes() const;

 private:
  struct State;
  ReadAhead(std::shared_ptr<State> state, const Options& options) : state_(std::move(state)), options_(options) {}
  static void Run(State& state);
  absl::Status AwaitBatch(uint64_t step);
  void DeliverNotes();

  // Shared with the thread, which may outlive this object.
  const std::shared_ptr<State> state_;
  const Options options_;
  std::thread thread_;
};

}  // namespace sgd::data
