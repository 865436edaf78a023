// When instructions run on a device's streams, by events before and behind each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/device/streams.h"

namespace sgd::exec {

// One execution of an instruction.
struct InstructionRun {
  uint32_t instruction;
  uint32_t stream;
  absl::Duration begin;  // from the begin of the step
  absl::Duration length;
};

class StreamTimer {
 public:
  // Borrows the streams.
  explicit StreamTimer(device::Streams& streams) : streams_(streams) {}

  // Everything up to Collect is of one step. Begin and End stand around the work that one instruction enqueues.
  absl::Status BeginStep();
  absl::Status Begin(uint32_t instruction, uint32_t stream);
  absl::Status End();

  // When the step is complete: its runs in the order in which they were enqueued.
  absl::StatusOr<std::vector<InstructionRun>> Collect() const;

 private:
  struct Run {
    uint32_t instruction = 0, stream = 0;
    std::unique_ptr<device::Event> begin, end;
  };

  absl::Status Make(std::unique_ptr<device::Event>& event) const;

  device::Streams& streams_;
  std::unique_ptr<device::Event> step_begin_;
  std::vector<Run> runs_;  // those of earlier steps are used again
  size_t used_ = 0;
};

}  // namespace sgd::exec
