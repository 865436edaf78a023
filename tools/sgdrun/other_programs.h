// Plans the programs beside the main one: `init` makes the first state, `eval` looks at it.
#pragma once

#include "absl/status/status.h"
#include "tools/sgdrun/job.h"

namespace sgd::sgdrun {

// Sets job.init when inputs that nothing else gives can come from a program named init. Its outputs
// meet inputs by name (exactly, or as paths: "result['params']['w']" gives "params['w']"); when not
// one name is met, outputs in order give the missing carried inputs in order, provided that number
// and types agree. Its own inputs may only be a key: u32[2] as jax.random.PRNGKey(seed) makes it,
// or an integer scalar.
absl::Status PlanInit(Job& job);

// Sets job.eval when --eval-every is given. An input of eval is, in this order: what --feed names;
// the main program's carried input of the same name; the tensor of that name in --eval-data; the
// main program's constant input of the same name.
absl::Status PlanEval(Job& job);

}  // namespace sgd::sgdrun
