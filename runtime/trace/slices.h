// Which memory an instruction touches; for whoever reasons about a plan without executing it.
#pragma once

#include <functional>

#include "runtime/artifact/program_generated.h"

namespace sgd::trace {

// Calls `visit(role, slice)` for every slice of a verified instruction. Roles: "buffer" (of a
// launch or tiled: read or written, the plan does not say), "a", "b", "c", "bias", "aux", "workspace",
// "source", "target".
using VisitSlice = std::function<void(const char* role, const artifact::Slice& slice)>;
void ForEachSlice(const artifact::Instruction& instruction, const VisitSlice& visit);

bool Overlaps(const artifact::Slice& a, const artifact::Slice& b);

}  // namespace sgd::trace
