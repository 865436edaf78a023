// Looks at a rank's memory around each instruction of a step.
#pragma once

#include <cstdint>

namespace sgd::exec {

// Called on the thread that executes, for every execution of an instruction that is neither a loop nor a case. What the
// instructions before have written can be read.
class InstructionObserver {
 public:
  virtual ~InstructionObserver() = default;

  virtual void Before(uint64_t index) = 0;
  virtual void After(uint64_t index) = 0;
};

}  // namespace sgd::exec
