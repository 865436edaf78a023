// Plans the program `eval`, which looks at the state between steps.
#pragma once

#include "absl/status/status.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Sets job.eval with --eval-every. The source of an input of eval is, in this order: the one that --feed names; the
// main program's carried input of the same name; the tensor of that name in --eval-data; the main program's constant
// input of the same name; the main program's input of the same path below some prefixes (MatchEval).
absl::Status PlanEval(Job& job);

}  // namespace sgd::train
