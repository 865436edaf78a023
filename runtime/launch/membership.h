// A rank's part in a job: who it is among the others, and how they hear of it.
#pragma once

#include "runtime/launch/launch.h"

namespace sgd::launch {

// Destroyed after all that the rank keeps of its context.
class Membership {
 public:
  virtual ~Membership() = default;

  virtual RankContext& context() = 0;
  // The rank's function has returned. Until its next one peers should not wait for it.
  virtual void EndRun() = 0;
  // The rank leaves a job that goes well: its end from now on is not a death. Waits for nobody.
  virtual void Leave() = 0;
};

}  // namespace sgd::launch
