// Measurements of one step of one rank, as ranks publish them.
#pragma once

#include <cstdint>

namespace sgd::watch {

// In seconds. Floats: a rank publishes many of these at a time.
struct StepSample {
  uint32_t step = 0;     // its low half
  float compute = 0;     // runs the program, less `wait`
  float wait = 0;        // in collectives and messages, peers included
  float input = 0;       // fills inputs before the step
  float checkpoint = 0;  // saves since the step before, less waits for peers
  float delay = 0;       // in its own time: the thread that was delayed most was ready to run and had no core
  float on_core = 0;     // in its own time, at most: the thread that executes steps had a core

  // The time that does not depend on peers.
  float own() const { return compute + input + checkpoint; }
  float total() const { return own() + wait; }
};

}  // namespace sgd::watch
