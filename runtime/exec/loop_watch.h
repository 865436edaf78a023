// The loops that a step is in: what to say of a step that has been in them for long, and its end where the user has set
// a limit. A loop whose condition never becomes false makes endless progress; nobody but the user can tell it from one
// that is honest and long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/exec/prepared_program.h"

namespace sgd::exec {

struct LoopLimits {
  // A step that has taken longer fails at the next trip of a loop.
  absl::Duration step_limit = absl::InfiniteDuration();
  // Called once in an executor's life, with one line, by the first step that has taken longer than `note_after` when it
  // comes to the next trip of a loop of unknown trips. May be empty.
  std::function<void(const std::string& note)> note = nullptr;
  absl::Duration note_after = absl::Seconds(300);
};

// Belongs to the thread that executes. Looks at the clock at each trip of a loop whose trips are not known, and of the
// others where there is a limit: some 25 ns.
class LoopWatch {
 public:
  // Borrows the program.
  LoopWatch(const PreparedProgram& program, LoopLimits limits) : program_(program), limits_(std::move(limits)) {}

  void BeginStep(uint64_t step);
  void BeginLoop(uint64_t instruction) { loops_.push_back({instruction, 0}); }
  void EndLoop() { loops_.pop_back(); }
  // Of the loop that has begun last, trips counted from 0. DeadlineExceeded over the limit, naming the loops with their
  // source lines and trips; without rank, program and step.
  absl::Status BeginTrip(uint64_t trip, bool is_known);

 private:
  struct Loop {
    uint64_t instruction, trip;
  };
  // "trip 7 of instruction 3 (loop) at model.py:1:2, within ...", innermost first.
  std::string DescribeLoops() const;

  const PreparedProgram& program_;
  LoopLimits limits_;
  uint64_t step_ = 0;
  absl::Time begin_;
  std::vector<Loop> loops_;  // outermost first
};

}  // namespace sgd::exec
