// Writes a job's state into a folder of checkpoints while steps go on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/save_reports.h"
#include "runtime/checkpoint/shared_snapshot.h"

namespace sgd::checkpoint {

// A save that has ended.
struct SaveOutcome {
  uint64_t steps_done = 0;
  absl::Status status;
  absl::Status removal;  // of older checkpoints, after a save that succeeded
  uint64_t bytes = 0;    // of tensors, with their header
  uint64_t bytes_on_disk = 0;
  absl::Duration duration;  // until it was complete
  absl::Duration cpu;       // processor time of the thread
};

// The files of a checkpoint that several processes write, each one of its own. The first completes it.
struct SharedSave {
  uint32_t index = 0;
  uint32_t count = 1;
  uint64_t total_bytes = 0;  // of all files
  // Tells the first process about this one's saves; false if the caller must try again later.
  std::function<bool(const std::string& text)> tell = nullptr;
  // On the first: the last text of another process; empty before that has told any.
  std::function<std::string(uint32_t index)> told = nullptr;
};

// A thread of one of the ranks that fill `snapshot`.
class BackgroundSaves {
 public:
  struct Options {
    std::string directory;
    KeepPolicy keep;
    ZstdLevel level = kNotCompressed;
    SharedSave shared = {};
  };

  // ResourceExhausted without a thread. `snapshot` must outlive it.
  static absl::StatusOr<std::unique_ptr<BackgroundSaves>> Start(SharedSnapshot& snapshot, Options options);
  // A save in flight is aborted between two writes, and leaves nothing.
  ~BackgroundSaves();
  BackgroundSaves(const BackgroundSaves&) = delete;
  BackgroundSaves& operator=(const BackgroundSaves&) = delete;

  // Saves the snapshot once all ranks have filled it for the steps of `point`, and releases it. The save before has
  // ended.
  void Save(TrainingPoint point);
  // Saves that have ended since this was asked.
  std::vector<SaveOutcome> TakeEnded();
  // Returns when there is nothing left to save, or with the error of `poll`, which it asks meanwhile.
  absl::Status Finish(const std::function<absl::Status()>& poll);

 private:
  BackgroundSaves(SharedSnapshot& snapshot, Options options) : snapshot_(snapshot), options_(std::move(options)) {}
  void Run();
  SaveOutcome Write(const TrainingPoint& point);
  absl::Status WriteOwn(const TrainingPoint& point, SaveOutcome& outcome);
  absl::Status WriteShared(const TrainingPoint& point, SaveOutcome& outcome);
  absl::StatusOr<StateFile> AwaitFileOf(uint32_t index);
  absl::Status CompleteShared(const TrainingPoint& point, absl::StatusOr<StateFile> own, SaveOutcome& outcome);
  absl::Status IsGivenUp();

  SharedSnapshot& snapshot_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<TrainingPoint> wanted_;  // until it has ended
  std::vector<SaveOutcome> ended_;
  uint64_t number_ = 0;  // of the save in progress
  SaveReports reports_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace sgd::checkpoint
