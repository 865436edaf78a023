// Semantic checks of a program section that has passed FlatBuffers' own verifier: after them, the
// rest of the runtime trusts it.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// InvalidArgument, one line, naming the program, the instruction or tensor, and the fault. It guarantees:
//   every enum is one of the schema's; every index (kernel, axis, location, carry) exists; every
//   slice is inside its space; nothing writes to constants; launches pass the operands that their
//   kernels take, in buffers as large as those need (that the code keeps to its entry in the table of
//   kernels is trusted); tensors' local shapes are their global shapes cut by their sharding, and fit in their
//   slices; matmul operands stay inside their slices, C's elements are distinct and disjoint from
//   those that are read; collectives are consistent (comm::CheckSpec) and in the window; their recorded hash is
//   right; names of programs, of mesh axes and of one program's inputs are unique.
absl::Status VerifyArtifact(const Artifact& root, uint64_t constants_section_bytes);

// The part of it that plans are told apart by: the mesh, and the plan's name.
absl::Status VerifyPlanName(const Artifact& root);

}  // namespace sgd::artifact
