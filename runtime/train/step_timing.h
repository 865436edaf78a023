// Times steps on fixed inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/train/session.h"
#include "runtime/train/step_runner.h"

namespace sgd::train {

struct StepTimes {
  std::vector<double> step_ms;
  std::vector<double> communication_ms;  // what waits for collectives, not what runs beside compute
  std::vector<double> host_us;           // of devices with streams: what giving them a step takes
  int64_t begin = 0;                     // of the first step, in nanoseconds
  int64_t end = 0;                       // of the last one

  double steps_per_second() const;
};

// Times steps [begin, end), which are at least one, and none of which is in flight before or after. The time of a step
// is that of the program and the carry, not of filling inputs that a training loop would have placed before. On a
// device that runs ahead, a step is enqueued while the previous one runs, as in training: then the time of a step is
// from the end of the previous one to its own.
absl::StatusOr<StepTimes> TimeSteps(StepRunner& runner, uint64_t begin, uint64_t end);

double Median(std::vector<double> values);

struct BenchResult {
  StepTimes times;
  uint64_t largest_pss = 0;  // of the ranks: proportional set size, in bytes
  uint64_t sent_bytes = 0;   // in a step, of the rank that sends the most
  uint64_t host_bytes = 0;   // in a step, of all ranks: sent to ranks of other hosts
  // In a step, the mean of all ranks, of ranks on CPUs: waits for collectives and messages, and the time in which those
  // between hosts were in flight while their rank did not wait.
  double exposed_ms = 0, hidden_ms = 0;
  uint64_t arena_bytes = 0;   // of the rank that allocates the most
  int64_t device_before = 0;  // bytes in use on this rank's device, by any process, before the steps that are timed
  int64_t device_after = 0;   // and after them
};

// Times `steps` steps after some that warm up; `first_step_done` is called after the first of these. All ranks call it.
absl::StatusOr<BenchResult> Bench(Session& session, uint64_t steps, const std::function<void()>& first_step_done);

}  // namespace sgd::train
