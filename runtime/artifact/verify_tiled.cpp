// Each step is checked as an instruction of its own at the first tile, then its slices at the last one: strides are not
// negative, so all tiles in between are inside too.
#include "runtime/artifact/verify_tiled.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/operands.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/strides.h"
#include "runtime/artifact/verify_launch.h"
#include "runtime/artifact/verify_matmul.h"

namespace sgd::artifact {
namespace {

constexpr uint64_t kMaxLoops = 8;
// Tiles are numbered with 16 bits where they are dealt to threads.
constexpr uint64_t kMaxTiles = 65535;
constexpr uint64_t kMaxScratchBytes = uint64_t{1} << 30;

// Those that are there, in the order of TileStep.operands.
std::vector<Operand> OperandsOf(const TileStep& step) {
  std::vector<Operand> operands;
  ForEachOperand(step, [&](const Operand& operand) {
    if (operand.slice != nullptr) operands.push_back(operand);
  });
  return operands;
}

absl::Status VerifyLoops(const Tiled& tiled) {
  if (Size(tiled.loops()) > kMaxLoops) return Invalid(absl::StrCat("more than ", kMaxLoops, " loops"));
  uint64_t tiles = 1;
  for (uint32_t i = 0; i < Size(tiled.loops()); ++i) {
    const uint64_t count = tiled.loops()->Get(i);
    if (count == 0 || count > kMaxTiles / tiles) return Invalid(absl::StrCat("not 1 to ", kMaxTiles, " tiles"));
    tiles *= count;
  }
  if (tiled.scratch_bytes() > kMaxScratchBytes) return Invalid("more than 2^30 bytes of scratch memory");
  return absl::OkStatus();
}

// Bytes from the first tile's address to that of the last one; the operand has been verified.
uint64_t ReachOf(const Tiled& tiled, const TileOperand& operand) {
  uint64_t reach = 0;
  for (uint32_t i = 0; i < Size(tiled.loops()); ++i) reach += (tiled.loops()->Get(i) - 1) * operand.strides()->Get(i);
  return reach;
}

absl::Status VerifyOperand(const VerifyContext& context, const Tiled& tiled, const TileOperand& operand) {
  if (absl::Status status = VerifySlice(context, operand.slice(), "its slice"); !status.ok()) return status;
  if (operand.slice()->space() == Space::Scratch) return Invalid("its slice is scratch memory");
  if (Size(operand.strides()) != Size(tiled.loops())) return Invalid("it has not one stride per loop");
  uint64_t reach = 0;
  for (uint32_t i = 0; i < Size(tiled.loops()); ++i) {
    const uint64_t steps = tiled.loops()->Get(i) - 1, stride = operand.strides()->Get(i);
    if (steps != 0 && stride > (operand.slice()->size() - reach) / steps) {
      return Invalid("its strides lead out of its slice");
    }
    reach += steps * stride;
  }
  return absl::OkStatus();
}

// The slice of the first tile, moved as far as tiles go, stays inside its operand.
absl::Status VerifyPart(const Tiled& tiled, const Slice& slice, int32_t index, uint64_t alignment) {
  if (index == -1) {
    return slice.space() == Space::Scratch ? absl::OkStatus() : Invalid("it has no operand and is no scratch memory");
  }
  if (index < 0 || static_cast<uint64_t>(index) >= Size(tiled.operands())) {
    return Invalid(absl::StrCat("it is part of operand ", index, " of ", Size(tiled.operands())));
  }
  const TileOperand& operand = *tiled.operands()->Get(static_cast<uint32_t>(index));
  const Slice& whole = *operand.slice();
  const uint64_t reach = ReachOf(tiled, operand);
  // No sum overflows: both slices are in spaces of less than 2^63 bytes.
  if (slice.space() != whole.space() || slice.offset() < whole.offset() ||
      slice.offset() + slice.size() + reach > whole.offset() + whole.size()) {
    return Invalid(absl::StrCat("it leaves operand ", index));
  }
  for (uint32_t i = 0; i < Size(operand.strides()); ++i) {
    if (operand.strides()->Get(i) % alignment != 0) {
      return Invalid(absl::StrCat("a stride of operand ", index, " is not a multiple of ", alignment, " bytes"));
    }
  }
  return absl::OkStatus();
}

// No two tiles write to the same element: `dims`, those of one tile, with the loops added.
absl::Status VerifyDisjoint(const Tiled& tiled, int32_t index, std::vector<StridedDim> dims, uint64_t element) {
  if (index == -1) return absl::OkStatus();
  const TileOperand& operand = *tiled.operands()->Get(static_cast<uint32_t>(index));
  for (uint32_t i = 0; i < Size(tiled.loops()); ++i) {
    dims.push_back({tiled.loops()->Get(i), static_cast<int64_t>(operand.strides()->Get(i) / element)});
  }
  if (absl::StatusOr<uint64_t> extent = Extent(dims, "what is written"); !extent.ok()) return extent.status();
  return IsInjective(std::move(dims)) ? absl::OkStatus() : Invalid("two tiles write to the same address");
}

// A slice that a step writes is in scratch memory or an output.
absl::Status VerifyWritten(const Tiled& tiled, int32_t index) {
  const uint64_t inputs = Size(tiled.operands()) - tiled.outputs();
  if (index == -1 || static_cast<uint64_t>(index) >= inputs) return absl::OkStatus();
  return Invalid(absl::StrCat("operand ", index, ", which is no output, is written"));
}

absl::Status VerifyForm(const Matmul& matmul) {
  if (!EpilogueOf(matmul.epilogue()).Without(library::EpilogueStep::kResidual).empty())
    return Invalid("an epilogue that tiles do not have");
  if (matmul.c_element()) return Invalid("a matmul that tiles do not have");
  if (matmul.workspace() != nullptr) return Invalid("a workspace in a tile");
  return absl::OkStatus();
}

// The part of an operand that one run writes, in elements of `element` bytes.
struct WrittenPart {
  std::vector<StridedDim> dims;
  uint64_t element;
};

WrittenPart WrittenPartOf(const TileStep& step, const Operand& operand) {
  const Matmul* matmul = step.op_as_Matmul();
  if (matmul == nullptr) return {{{operand.slice->size(), 1}}, 1};
  WrittenPart part{{{matmul->m(), matmul->c_m()}, {matmul->n(), matmul->c_n()}}, ElementSize(matmul->element())};
  for (uint32_t i = 0; i < Size(matmul->batch_dims()); ++i) {
    part.dims.push_back({matmul->batch_dims()->Get(i), matmul->c_batch()->Get(i)});
  }
  return part;
}

absl::Status VerifyAlone(const VerifyContext& context, const TileStep& step) {
  if (const Launch* launch = step.op_as_Launch()) {
    return Size(launch->coordinates()) != 0 ? Invalid("coordinates in a tile") : VerifyLaunch(context, *launch);
  }
  const Matmul* matmul = step.op_as_Matmul();
  if (matmul == nullptr) return Invalid("unknown kind of operation");
  if (absl::Status status = VerifyMatmul(context, *matmul); !status.ok()) return status;
  return VerifyForm(*matmul);
}

absl::Status VerifyStep(const VerifyContext& context, const Tiled& tiled, const TileStep& step) {
  if (absl::Status status = VerifyAlone(context, step); !status.ok()) return status;
  const std::vector<Operand> operands = OperandsOf(step);
  if (Size(step.operands()) != operands.size()) return Invalid("it has not one operand number per slice");
  const Matmul* matmul = step.op_as_Matmul();
  const uint64_t alignment = matmul == nullptr ? kBufferAlignment : ElementSize(matmul->element());
  for (uint32_t i = 0; i < operands.size(); ++i) {
    absl::Status status = VerifyPart(tiled, *operands[i].slice, step.operands()->Get(i), alignment);
    if (!status.ok()) return Invalid(absl::StrCat("slice ", i, ": ", status.message()));
  }
  for (uint32_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].is_written()) continue;
    const int32_t index = step.operands()->Get(i);
    if (absl::Status status = VerifyWritten(tiled, index); !status.ok()) return status;
    WrittenPart part = WrittenPartOf(step, operands[i]);
    absl::Status status = VerifyDisjoint(tiled, index, std::move(part.dims), part.element);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyTiled(const VerifyContext& context, const Tiled& tiled) {
  if (absl::Status status = VerifyLoops(tiled); !status.ok()) return status;
  for (uint32_t i = 0; i < Size(tiled.operands()); ++i) {
    absl::Status status = VerifyOperand(context, tiled, *tiled.operands()->Get(i));
    if (!status.ok()) return Invalid(absl::StrCat("operand ", i, ": ", status.message()));
  }
  if (tiled.outputs() > Size(tiled.operands())) {
    return Invalid(absl::StrCat(tiled.outputs(), " of ", Size(tiled.operands()), " operands are outputs"));
  }
  VerifyContext inside = context;
  inside.scratch_bytes = tiled.scratch_bytes();
  for (uint32_t i = 0; i < Size(tiled.steps()); ++i) {
    absl::Status status = VerifyStep(inside, tiled, *tiled.steps()->Get(i));
    if (!status.ok()) return Invalid(absl::StrCat("step ", i, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace sgd::artifact
