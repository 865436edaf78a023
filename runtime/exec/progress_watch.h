// Finds a rank that computes without end: a thread that looks whether instructions, or parts of one, are finished.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/exec/prepared_program.h"

namespace sgd::exec {

// The executor reports its progress; three stores for an instruction. A step may take any time as long as some part of
// it is finished again and again: an instruction, or a part of one where the device counts those (Device::progress).
// Waits for peers have deadlines of their own and are left out.
class ProgressWatch {
 public:
  struct Options {
    // So long nothing was finished while this process computed: half as long by its CPU time, so that a rank that was
    // stopped or got no core is not blamed.
    absl::Duration deadline;
    // Called once, by the watch's thread, with rank, program, instruction and source line.
    std::function<void(const absl::Status& error)> give_up;
  };

  // `device` must outlive it. ResourceExhausted when there is no thread.
  static absl::StatusOr<std::unique_ptr<ProgressWatch>> Start(const device::Device& device, Options options);
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

  // The current instruction, "program 'main' instruction 4 (launch) at gpt.py:3:1", and its source line; empty between
  // steps. Any thread.
  struct Position {
    std::string instruction, location;
  };
  Position position();

  // By the thread that executes. A step of `program` begins, and ends; the program must live in between.
  void BeginStep(const PreparedProgram& program);
  void EndStep();
  // It comes to that instruction; it has finished one that does something.
  void At(uint64_t instruction) { instruction_.store(instruction, std::memory_order_relaxed); }
  void Finished() { finished_.store(finished_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  // It waits for peers from here on, or does so no more.
  void SetWaiting(bool is_waiting) { is_waiting_.store(is_waiting, std::memory_order_relaxed); }

 private:
  ProgressWatch(const device::Device& device, Options options) : device_(device), options_(std::move(options)) {}
  void Run();
  // The error when it is time to give up.
  absl::Status Look();

  // The last progress, and when it was seen first.
  struct Mark {
    uint64_t finished = 0;
    absl::Time time;
    absl::Duration cpu_time;
  };

  const device::Device& device_;
  const Options options_;
  std::atomic<uint64_t> instruction_{0};
  std::atomic<uint64_t> finished_{0};
  std::atomic<bool> is_waiting_{false};
  Mark mark_;  // of the watch's thread
  std::mutex mutex_;
  const PreparedProgram* program_ = nullptr;  // of the step; null between steps
  bool stops_ = false;
  std::condition_variable wakes_;
  std::thread thread_;
};

}  // namespace sgd::exec
