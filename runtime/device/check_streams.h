// A device without memory: it takes the actions of a stream plan, lets every stream run as late as events allow, and
// finds what no event orders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/artifact/program_generated.h"
#include "runtime/device/stream_plan.h"

namespace sgd::device {

struct StreamProblem {
  enum class Kind {
    kRace,                  // two accesses to one byte, one of them a write, that may happen in either order
    kUndefined,             // bytes are read that nothing has written
    kUnorderedCollectives,  // two collectives that ranks could run in different orders
    kUnrecordedEvent,       // a stream waits for an event that was not recorded
    kUnjoined,              // a stream may still work when the step ends
    kMissing,               // an instruction that is never run
    kTooLong,               // the check has ended before the program: loops in loops that double it
  };
  Kind kind;
  uint32_t instruction = 0;  // the later one of two
  std::string text;          // one line: instructions, streams, bytes
};

// Executes the plan of a verified program symbolically. A loop of known trips runs at most twice, which is all that its
// end joined can tell apart; a loop that the host decides runs not at all in one execution and twice in the next;
// branches of cases run in turn, every one at least once. Loops that were unrolled run as they are. After 2^20
// instructions it ends with a problem that says so. Problems come in the order of instructions, each pair of
// instructions once.
//
// Bytes are defined before a step in the inputs and the constants. Slices that an instruction changes only in part
// count as written by it.
std::vector<StreamProblem> CheckStreams(const artifact::Program& program, const StreamPlan& plan);

}  // namespace sgd::device
