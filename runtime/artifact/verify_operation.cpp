// Checks that all operations share, and those of kinds with short checks. Numbers may be anything up to 2^64, so every
// product and sum is checked. Slices are checked twice: by a kind, which knows how far it reaches, and once for all
// kinds.
#include "runtime/artifact/verify_operation.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/operands.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/strides.h"
#include "runtime/artifact/verify_attention.h"
#include "runtime/artifact/verify_channels.h"
#include "runtime/artifact/verify_collective.h"
#include "runtime/artifact/verify_convolution.h"
#include "runtime/artifact/verify_host_call.h"
#include "runtime/artifact/verify_launch.h"
#include "runtime/artifact/verify_linear_algebra.h"
#include "runtime/artifact/verify_matmul.h"
#include "runtime/artifact/verify_tiled.h"

namespace sgd::artifact {
namespace {

constexpr uint64_t kMaxPattern = 16;

absl::Status VerifyCopy(const VerifyContext& context, const Copy& copy) {
  if (absl::Status status = VerifySlice(context, copy.source(), "source"); !status.ok()) return status;
  if (absl::Status status = VerifySlice(context, copy.target(), "target"); !status.ok()) return status;
  if (copy.source()->size() < copy.target()->size()) return Invalid("the source is smaller than the target");
  Range source = RangeOf(*copy.source());
  source.end = source.begin + copy.target()->size();
  if (Overlap(source, RangeOf(*copy.target()))) return Invalid("source and target overlap");
  if (copy.source()->space() == Space::Host && copy.target()->space() == Space::Host)
    return Invalid("source and target are both in host memory; expected one of them in the device's");
  return absl::OkStatus();
}

absl::Status VerifyFill(const Fill& fill) {
  const uint64_t pattern = Size(fill.pattern());
  if (pattern == 0 || pattern > kMaxPattern) {
    return Invalid(absl::StrCat("a pattern of ", pattern, " bytes where 1 to ", kMaxPattern, " are allowed"));
  }
  if (fill.target()->size() % pattern != 0) return Invalid("the target is not a whole number of patterns");
  return absl::OkStatus();
}

absl::Status VerifyLoop(const VerifyContext& context, const Loop& loop) {
  if (loop.predicate() != nullptr) {
    if (loop.predicate()->size() == 0) return Invalid("the predicate has no byte");
    return VerifySlice(context, loop.predicate(), "the predicate");
  }
  if (loop.condition() != 0) return Invalid("a condition without a predicate");
  return absl::OkStatus();
}

absl::Status VerifyCase(const VerifyContext& context, const Case& branches) {
  if (Size(branches.branches()) == 0) return Invalid("a case without branches");
  if (absl::Status status = VerifySlice(context, branches.index(), "the number of the branch"); !status.ok()) {
    return status;
  }
  return branches.index()->size() >= sizeof(int32_t) ? absl::OkStatus()
                                                     : Invalid("the number of the branch is larger than its slice");
}

}  // namespace

absl::Status VerifySlice(const VerifyContext& context, const Slice* slice, const std::string& what) {
  if (slice == nullptr) return Invalid(absl::StrCat(what, " is missing"));
  uint64_t space_bytes = 0;
  switch (slice->space()) {
    case Space::Private:
      space_bytes = context.private_bytes;
      break;
    case Space::Window:
      space_bytes = context.window_bytes;
      break;
    case Space::Constant:
      space_bytes = context.constant_bytes;
      break;
    case Space::Scratch:
      space_bytes = context.scratch_bytes;
      break;
    case Space::Host:
      space_bytes = context.host_bytes;
      break;
    default:
      return Invalid(absl::StrCat(what, " is in an unknown space"));
  }
  if (slice->offset() > space_bytes || slice->size() > space_bytes - slice->offset()) {
    return Invalid(absl::StrCat(what, ": ", slice->size(), " bytes at ", slice->offset(), " are outside of the ",
                                EnumNameSpace(slice->space()), " space of ", space_bytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Range> Fit(const VerifyContext& context, const Slice* slice, uint64_t elements, ElementType type,
                          const std::string& what) {
  if (absl::Status status = VerifySlice(context, slice, what); !status.ok()) return status;
  const uint64_t size = ElementSize(type);
  if (slice->offset() % size != 0) return Invalid(absl::StrCat(what, " is not aligned to its elements"));
  if (elements > slice->size() / size) {
    return Invalid(absl::StrCat(what, " reaches ", elements, " elements of ", ElementName(type), " in a slice of ",
                                slice->size(), " bytes"));
  }
  return Range{slice->space(), slice->offset(), slice->offset() + elements * size};
}

Range RangeOf(const Slice& slice) { return {slice.space(), slice.offset(), slice.offset() + slice.size()}; }

bool Overlap(const Range& a, const Range& b) {
  return a.space == b.space && a.begin < b.end && b.begin < a.end && a.begin < a.end && b.begin < b.end;
}

absl::Status VerifyWritable(const VerifyContext& context, const Slice* slice, const std::string& what) {
  if (absl::Status status = VerifySlice(context, slice, what); !status.ok()) return status;
  if (slice->space() == Space::Constant)
    return Invalid(absl::StrCat(what, " is in the constants, which are read-only"));
  return absl::OkStatus();
}

absl::Status VerifyWork(const std::vector<uint64_t>& sizes) {
  uint64_t work = 1;
  for (uint64_t size : sizes) {
    if (size > kMaxElements) return Invalid("a dimension is larger than 2^48");
    if (size > 1 && work > UINT64_MAX / 2 / size) return Invalid("more than 2^63 multiplications");
    work *= std::max<uint64_t>(size, 1);
  }
  return absl::OkStatus();
}

namespace {

// The checks that the kind of operation makes of its sizes, types and slices.
absl::Status VerifyKind(const VerifyContext& context, const Instruction& instruction) {
  switch (instruction.op_type()) {
    case Operation::NONE:
      break;
    case Operation::Launch:
      return VerifyLaunch(context, *instruction.op_as_Launch());
    case Operation::Matmul:
      return VerifyMatmul(context, *instruction.op_as_Matmul());
    case Operation::Collective:
      return VerifyCollective(context, *instruction.op_as_Collective());
    case Operation::Copy:
      return VerifyCopy(context, *instruction.op_as_Copy());
    case Operation::Fill:
      return VerifyFill(*instruction.op_as_Fill());
    case Operation::Loop:  // what they run: control_flow.cpp
      return VerifyLoop(context, *instruction.op_as_Loop());
    case Operation::Case:
      return VerifyCase(context, *instruction.op_as_Case());
    case Operation::Done:
      return absl::OkStatus();  // verify_overlap.cpp
    case Operation::Send:
      return VerifySend(context, *instruction.op_as_Send());
    case Operation::Receive:
      return VerifyReceive(context, *instruction.op_as_Receive());
    case Operation::LaunchGroup:
      return VerifyLaunchGroup(context, *instruction.op_as_LaunchGroup());
    case Operation::Tiled:
      return VerifyTiled(context, *instruction.op_as_Tiled());
    case Operation::Convolution:
      return VerifyConvolution(context, *instruction.op_as_Convolution());
    case Operation::Attention:
      return VerifyAttention(context, *instruction.op_as_Attention());
    case Operation::LinearAlgebra:
      return VerifyLinearAlgebra(context, *instruction.op_as_LinearAlgebra());
    case Operation::HostCall:
      return VerifyHostCall(context, *instruction.op_as_HostCall());
  }
  return Invalid("unknown kind of operation");
}

}  // namespace

// Checks of all kinds: nothing is touched outside of its space, no constant is written, and memory of the
// host is touched by copies alone.
absl::Status VerifyOperands(const VerifyContext& context, const Instruction& instruction) {
  absl::Status status;
  ForEachOperand(instruction, [&](const Operand& operand) {
    if (!status.ok() || (operand.slice == nullptr && operand.is_optional)) return;
    status = operand.is_written() ? VerifyWritable(context, operand.slice, operand.role)
                                  : VerifySlice(context, operand.slice, operand.role);
    const bool is_host = operand.slice != nullptr && operand.slice->space() == Space::Host;
    if (status.ok() && is_host && instruction.op_type() != Operation::Copy)
      status = Invalid(absl::StrCat(operand.role, " is in host memory, which copies alone touch"));
  });
  return status;
}

absl::Status VerifyOperation(const VerifyContext& context, const Instruction& instruction) {
  if (absl::Status status = VerifyKind(context, instruction); !status.ok()) return status;
  return VerifyOperands(context, instruction);
}

}  // namespace sgd::artifact
