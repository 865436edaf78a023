// The artifact's mesh and collectives in the form that runtime/comm works with, and the hash of a
// program's sequence of collectives.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/comm/collectives/mesh.h"

namespace sgd::artifact {

comm::Mesh MeshOf(const Artifact& root);

using AxisRefs = flatbuffers::Vector<const AxisRef*>;
// An absent vector gives no axes.
std::vector<comm::AxisRef> AxesOf(const AxisRefs* axes);

// Enums must be in range (verify.h) and operands' slices in the window. `location` is said in
// errors.
comm::CollectiveSpec SpecOf(const Collective& collective, std::string location);

// SHA-256 over kind, reduction, axes, and each operand's type, counts and dimensions, of all
// collectives in order; independent of the buffers' offsets. Ranks that agree on it issue the same
// collectives.
absl::StatusOr<Hash> HashCollectives(const Program& program);

}  // namespace sgd::artifact
