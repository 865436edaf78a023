// Checks beyond comm::CheckSpec: known enumerators, and slices of the window that hold the operands.
#include "runtime/artifact/verify_collective.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/verify_channels.h"

namespace sgd::artifact {
namespace {

absl::Status VerifyOperandSlices(const VerifyContext& context, const Collective& collective, uint64_t group_size,
                                 const comm::CollectiveSpec& spec) {
  for (uint64_t i = 0; i < spec.operands.size(); ++i) {
    const CollectiveOperand& operand = *collective.operands()->Get(static_cast<uint32_t>(i));
    absl::StatusOr<comm::OperandCounts> counts = comm::CheckOperand(spec.kind, spec.operands[i], group_size);
    if (!counts.ok()) return counts.status();
    for (const auto& [slice, count, what] : {std::tuple(operand.source(), counts->source, "the source"),
                                             std::tuple(operand.target(), counts->target, "the target")}) {
      const std::string name = absl::StrCat(what, " of operand ", i);
      absl::StatusOr<Range> range = Fit(context, slice, count, operand.element(), name);
      if (!range.ok()) return range.status();
      if (range->space != Space::Window) return Invalid(absl::StrCat(name, " is not in the window"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyCollective(const VerifyContext& context, const Collective& collective) {
  if (collective.kind() > CollectiveKind::MAX) return Invalid("unknown kind of collective");
  if (collective.reduce() > ReduceKind::MAX) return Invalid("unknown kind of reduction");
  if (Size(collective.operands()) == 0) return Invalid("a collective without operands");
  for (const CollectiveOperand* operand : *collective.operands()) {
    if (!IsOfInstructions(operand->element())) return Invalid("unknown element type");
    if ((collective.kind() == CollectiveKind::GatherRange) != (operand->range() != nullptr)) {
      return Invalid("an operand has a range exactly when ranges are gathered");
    }
  }
  if (collective.staging() != nullptr) {
    if (absl::Status status = VerifyWritable(context, collective.staging(), "staging"); !status.ok()) return status;
    if (collective.staging()->space() != Space::Window) return Invalid("the staging is not in the window");
  }
  const comm::CollectiveSpec spec = SpecOf(collective, "artifact");
  if (absl::Status status = comm::CheckAxes(context.mesh, spec.axes); !status.ok()) return status;
  if (absl::Status status = VerifyOwnStage(context, spec.axes); !status.ok()) return status;
  if (absl::Status status = VerifyOperandSlices(context, collective, comm::AxesSize(spec.axes), spec); !status.ok()) {
    return status;
  }
  if (spec.kind == comm::CollectiveKind::kPermute) {
    // Every group of a mesh has the same shape, so rank 0 speaks for all.
    absl::StatusOr<comm::PermutePeers> peers = comm::PermutePeersOf(context.mesh, spec.axes, spec.from_axes, 0);
    if (!peers.ok()) return peers.status();
  }
  return comm::CheckSpec(context.mesh, spec, context.window_bytes);
}

}  // namespace sgd::artifact
