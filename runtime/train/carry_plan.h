// Decides which outputs a run carries from step to step: by the artifact, by the user, and the inputs that then are
// still open.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/train/signature.h"

namespace sgd::train {

// The user's request; an empty one leaves all to the artifact.
struct CarryRequest {
  bool carries_nothing = false;  // all inputs keep their values
  exec::CarryPairs pairs;        // override the artifact's
  std::set<size_t> kept;         // inputs that keep their values

  bool is_given() const { return carries_nothing || !pairs.empty() || !kept.empty(); }
};

struct CarryPlan {
  exec::CarryPairs pairs;               // by output
  std::map<size_t, CarryDoubt> doubts;  // by input: neither the artifact nor the user has settled these
};

// The artifact's pairs, with those of the request in their place. An input whose result the request takes away is
// doubtful from then on. InvalidArgument when a requested pair differs in type or sharding, does not exist, or an input
// gets two values; or when an output decides about the commit, and a pair is not the artifact's.
absl::StatusOr<CarryPlan> PlanCarry(const Signature& program, const CarryRequest& request);

// FailedPrecondition, with a table of inputs and outputs and the flag that settles it, when inputs that no data `feeds`
// are doubtful, or when nothing is carried and that was not asked for. `purpose` says what needs to know, "--steps 4".
absl::Status CheckCarryKnown(const Signature& program, const CarryRequest& request, const CarryPlan& plan,
                             const std::set<size_t>& fed, const std::string& purpose);

}  // namespace sgd::train
