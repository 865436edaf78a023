// Bytes that a collective sends and packs, counted from its operands by the functions that the compiler counts with.
#include <algorithm>
#include <span>

#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/comm/collectives/range_load.h"
#include "runtime/comm/collectives/sent_bytes.h"
#include "runtime/comm/collectives/staged_bytes.h"

namespace sgd::comm {
namespace {

std::vector<SubAxis> SubAxesOf(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  std::vector<SubAxis> sub_axes;
  for (const AxisRef& axis : axes) sub_axes.push_back({RankStride(mesh, axis), axis.size});
  return sub_axes;
}

// Bytes sent by the rank that sends most.
uint64_t SentByRanges(const Mesh& mesh, const CollectiveSpec& spec) {
  std::vector<RangeLoad> loads;
  for (const CollectiveOperand& operand : spec.operands) {
    loads.push_back({operand.range, operand.outer * operand.inner * ElementSize(operand.element)});
  }
  return MostSentBytes(SubAxesOf(mesh, spec.axes), SubAxesOf(mesh, spec.to_axes), loads);
}

}  // namespace

uint64_t SentBytes(const Mesh& mesh, const CollectiveSpec& spec) {
  const uint64_t n = AxesSize(spec.axes);
  if (TraitsOf(spec.kind).target == TargetForm::kRange) return SentBytes(spec.kind, n, SentByRanges(mesh, spec));
  uint64_t bytes = 0;
  for (const CollectiveOperand& operand : spec.operands) bytes += operand.count * ElementSize(operand.element);
  return SentBytes(spec.kind, n, CountsResults(spec.kind) ? bytes * n : bytes);
}

uint64_t StagedBytes(const Mesh& mesh, const CollectiveSpec& spec) {
  const uint64_t n = AxesSize(spec.axes);
  if (n == 1) return 0;
  uint64_t bytes = 0;
  std::vector<uint64_t> of_ranges(mesh.ranks());
  for (const CollectiveOperand& operand : spec.operands) {
    const uint64_t size = ElementSize(operand.element);
    switch (TraitsOf(spec.kind).target) {
      case TargetForm::kSame:
        break;
      case TargetForm::kGathered:
        bytes += StagedWhole(operand.outer, operand.count * size * n);
        break;
      case TargetForm::kScattered:
        bytes += StagedWhole(operand.outer, operand.count * size);
        break;
      case TargetForm::kExchanged:
        bytes += StagedParts(operand.dims, operand.split, operand.concat, size, n);
        break;
      case TargetForm::kRange:
        AddStagedBytes(SubAxesOf(mesh, spec.axes), SubAxesOf(mesh, spec.to_axes), operand.range, operand.outer,
                       operand.inner * size, std::span(of_ranges));
        break;
    }
  }
  return bytes + *std::max_element(of_ranges.begin(), of_ranges.end());
}

}  // namespace sgd::comm
