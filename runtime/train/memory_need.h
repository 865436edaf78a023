// A rank's memory on a device of its own by purpose, before any of it is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/train/job.h"

namespace sgd::train {

struct MemoryNeed {
  uint64_t inputs = 0;     // of the private arena: what the program starts from
  uint64_t steps = 0;      // of it: everything else
  uint64_t window = 0;     // what collectives read and write
  uint64_t constants = 0;  // of the artifact
  uint64_t staging = 0;    // second buffers of inputs that every step is fed anew
  uint64_t messages = 0;   // copies of the state on their way between hosts

  // With what arenas are rounded up by.
  uint64_t total() const;
  // "1.50 GiB: inputs 1.00 GiB, ..."
  std::string Text() const;
};

MemoryNeed NeedOf(const Job& job, uint32_t rank);

}  // namespace sgd::train
