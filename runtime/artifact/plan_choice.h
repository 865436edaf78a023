// Which plan of an artifact is meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// A compilation of the artifact's programs for one mesh.
struct Plan {
  std::string name;    // "data=4,model=2"
  uint64_t ranks = 1;  // the product of the mesh axes
};

// By what a plan is chosen. Neither chooses the only one.
struct PlanChoice {
  std::optional<std::string> name = std::nullopt;
  std::optional<uint64_t> ranks = std::nullopt;
};

// The name that is recorded, else the mesh as `data=4,model=2`; `ranks=1` without a mesh.
std::string PlanNameOf(const Artifact& root);

// "'data=4' (4 ranks), 'data=2' (2 ranks)".
std::string PlansText(const std::vector<Plan>& plans);

// The index of the plan that fits the choice. NotFound where none does lists the plans there are, and InvalidArgument
// where several do lists these.
absl::StatusOr<size_t> ChoosePlan(const std::vector<Plan>& plans, const PlanChoice& choice);

}  // namespace sgd::artifact
