// Plans the programs beside the main one: `init` makes the first state, `eval` looks at it.
#pragma once

#include "absl/status/status.h"
#include "tools/sgdrun/job.h"

namespace sgd::sgdrun {

// Sets job.init when inputs that nothing else gives can come from a program named init, unless a checkpoint is resumed,
// which has all of the state. Its outputs meet inputs as train::MatchInit says; what only position decides is noted.
// Its own inputs may only be a key: u32[2] as jax.random.PRNGKey(seed) makes it, or an integer scalar.
absl::Status PlanInit(Job& job);

// Sets job.eval when --eval-every is given. An input of eval is, in this order: what --feed names; the main program's
// carried input of the same name; the tensor of that name in --eval-data; the main program's constant input of the same
// name; the main program's input of the same path below some prefixes (train::MatchEval).
absl::Status PlanEval(Job& job);

}  // namespace sgd::sgdrun
