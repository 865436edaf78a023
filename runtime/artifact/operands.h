// The one description of what operations touch. Accesses, checks of streams and of slices, listings and JSON all ask
// here, so that an operation which is described here is known to all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// kWrite: nothing is surely read before it is written; it may be changed in part only. kUpdate: what is there is read,
// then changed.
enum class Access : uint8_t { kRead, kWrite, kUpdate };

struct Operand {
  // The schema's name for it, as "a" or "target". Operands of a list share one.
  const char* role;
  // The bytes that are touched; only valid while it is visited. Null where it is absent: of verified operations only
  // where it is optional.
  const Slice* slice;
  Access access;
  bool is_optional = false;
  // The element type of values; nothing for bytes that an operation moves, fills or uses as scratch.
  std::optional<ElementType> element = std::nullopt;

  bool is_written() const { return access != Access::kRead; }
};

using VisitOperand = absl::FunctionRef<void(const Operand&)>;
using KernelTable = flatbuffers::Vector<flatbuffers::Offset<Kernel>>;

// Visits what one execution of the operation alone touches, in the order of the schema: of a loop or a case only what
// decides, not what they run; of a Done nothing. Operations need not be verified: unknown ones touch nothing. What
// elements the buffers of launches have is known with the artifact's `kernels` alone.
void ForEachOperand(const Instruction& instruction, VisitOperand visit);
void ForEachOperand(const Instruction& instruction, const KernelTable* kernels, VisitOperand visit);
void ForEachOperand(const Launch& launch, VisitOperand visit);
// As if the step ran once, at the first tile.
void ForEachOperand(const TileStep& step, VisitOperand visit);

}  // namespace sgd::artifact
