// Plans the program `init`, which makes the first state.
#pragma once

#include "absl/status/status.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Sets job.init when inputs that nothing else gives can come from a program named init, unless a checkpoint is resumed,
// which has all of the state. Its outputs meet inputs as MatchInit says; what only position decides is noted.
// Its own inputs may only be a key: u32[2] as jax.random.PRNGKey(seed) makes it, or an integer scalar.
absl::Status PlanInit(Job& job);

}  // namespace sgd::train
