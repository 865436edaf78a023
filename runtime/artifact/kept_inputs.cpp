// Compares the input's slice with all that is written.
#include "runtime/artifact/kept_inputs.h"

#include <algorithm>

#include "runtime/artifact/accesses.h"
#include "runtime/artifact/reader.h"

namespace sgd::artifact {
namespace {

bool IsSame(const Input& a, const Input& b) {
  const Slice &x = *a.slice(), &y = *b.slice();
  return x.space() == y.space() && x.offset() == y.offset() && x.size() == y.size() &&
         a.name()->string_view() == b.name()->string_view();
}

bool Writes(const Program& program, const Slice& slice) {
  for (uint64_t i = 0; i < Size(program.instructions()); ++i) {
    const Accesses accesses = AccessesOf(*program.instructions()->Get(static_cast<uint32_t>(i)));
    if (std::ranges::any_of(accesses.writes, [&](const Slice& written) { return Overlap(written, slice); }))
      return true;
  }
  return false;
}

}  // namespace

bool KeepsInput(const Artifact& root, const Program& program, uint32_t input) {
  const Input& kept = *program.inputs()->Get(input);
  for (const Program* other : *root.programs()) {
    if (other->stage() != program.stage()) continue;  // in memory of other ranks
    if (Writes(*other, *kept.slice())) return false;
    for (uint32_t i = 0; i < Size(other->inputs()); ++i) {
      const Input& theirs = *other->inputs()->Get(i);
      const bool is_harmless = (other == &program && i == input) || IsSame(theirs, kept);
      if (!is_harmless && Overlap(*theirs.slice(), *kept.slice())) return false;
    }
  }
  return true;
}

}  // namespace sgd::artifact
