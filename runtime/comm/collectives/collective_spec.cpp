// Checks of collectives: done once when one is prepared, trusted afterwards.
#include "runtime/comm/collectives/collective_spec.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "runtime/comm/collectives/staged_bytes.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

// Product of factors, or nothing beyond kMaxBytes; that of those that are not 0 must not be beyond it either, since
// products of some of them are computed where another one is 0.
bool Product(const std::vector<uint64_t>& factors, uint64_t* product) {
  uint64_t others = 1;
  bool is_zero = false;
  for (uint64_t factor : factors) {
    is_zero = is_zero || factor == 0;
    if (factor == 0) continue;
    if (others > kMaxBytes / factor) return false;
    others *= factor;
  }
  *product = is_zero ? 0 : others;
  return true;
}

absl::Status TooLarge() { return absl::InvalidArgumentError("an operand has more than 2^62 bytes"); }

absl::Status CountMismatch(const CollectiveOperand& operand, uint64_t expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("an operand has ", operand.count, " elements where its dimensions say ", expected));
}

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

bool Overlap(const Range& a, const Range& b) {
  return a.begin < b.end && b.begin < a.end && a.begin < a.end && b.begin < b.end;
}

absl::StatusOr<Range> WindowRange(const CollectiveOperand& operand, uint64_t offset, uint64_t count,
                                  uint64_t window_bytes) {
  const uint64_t size = ElementSize(operand.element);
  if (offset % size != 0) {
    return absl::InvalidArgumentError(absl::StrCat("window offset ", offset, " is not a multiple of ", size,
                                                   ", the size of ", ElementName(operand.element)));
  }
  if (offset > window_bytes || count > (window_bytes - offset) / size) {
    return absl::InvalidArgumentError(
        absl::StrCat(count, " elements at offset ", offset, " do not fit in a window of ", window_bytes, " bytes"));
  }
  return Range{offset, offset + count * size};
}

absl::Status CheckReduce(ReduceKind reduce, ElementType element) {
  const bool logical = reduce == ReduceKind::kAnd || reduce == ReduceKind::kOr;
  const bool arithmetic = reduce == ReduceKind::kAdd || reduce == ReduceKind::kMul;
  const bool is_float = element >= ElementType::kF16;
  if ((logical && is_float) || (arithmetic && element == ElementType::kBool) || IsFloat8(element)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the reduction ", ReduceName(reduce), " is not defined for ", ElementName(element)));
  }
  return absl::OkStatus();
}

// No target may touch another range, except an all-reduce its own source.
absl::Status CheckOverlaps(CollectiveKind kind, const std::vector<Range>& sources, const std::vector<Range>& targets) {
  for (size_t i = 0; i < targets.size(); ++i) {
    for (size_t j = 0; j < targets.size(); ++j) {
      const bool in_place = i == j && kind == CollectiveKind::kAllReduce && sources[j].begin == targets[i].begin;
      if ((!in_place && Overlap(targets[i], sources[j])) || (i < j && Overlap(targets[i], targets[j]))) {
        return absl::InvalidArgumentError(absl::StrCat("the target of operand ", i, " overlaps operand ", j));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStaging(const CollectiveSpec& spec, uint64_t window_bytes, const std::vector<Range>& sources,
                          const std::vector<Range>& targets) {
  if (spec.staging_bytes == 0) return absl::OkStatus();
  if (spec.staging_offset > window_bytes || spec.staging_bytes > window_bytes - spec.staging_offset ||
      spec.staging_offset % kPieceAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat(spec.staging_bytes, " bytes of staging at offset ",
                                                   spec.staging_offset, " do not fit a window of ", window_bytes));
  }
  const Range staging{spec.staging_offset, spec.staging_offset + spec.staging_bytes};
  for (const std::vector<Range>* ranges : {&sources, &targets}) {
    for (const Range& range : *ranges) {
      if (Overlap(staging, range)) return absl::InvalidArgumentError("the staging overlaps an operand");
    }
  }
  return absl::OkStatus();
}

absl::Status Annotate(const absl::Status& status, const CollectiveSpec& spec) {
  return absl::Status(status.code(),
                      absl::StrCat(CollectiveName(spec.kind), " (", spec.location, "): ", status.message()));
}

absl::Status CheckUnlocated(const Mesh& mesh, const CollectiveSpec& spec, uint64_t window_bytes) {
  if (absl::Status status = CheckMesh(mesh); !status.ok()) return status;
  if (absl::Status status = CheckAxes(mesh, spec.axes); !status.ok()) return status;
  if (absl::Status status = CheckAxes(mesh, spec.to_axes); !status.ok()) return status;
  const uint64_t group_size = AxesSize(spec.axes);
  std::vector<Range> sources, targets;
  for (const CollectiveOperand& operand : spec.operands) {
    if (TraitsOf(spec.kind).reduces) {
      if (absl::Status status = CheckReduce(spec.reduce, operand.element); !status.ok()) {
        return status;
      }
    }
    absl::StatusOr<OperandCounts> counts = CheckOperand(spec.kind, operand, group_size);
    if (!counts.ok()) return counts.status();
    absl::StatusOr<Range> source = WindowRange(operand, operand.source_offset, counts->source, window_bytes);
    if (!source.ok()) return source.status();
    absl::StatusOr<Range> target = WindowRange(operand, operand.target_offset, counts->target, window_bytes);
    if (!target.ok()) return target.status();
    sources.push_back(*source);
    targets.push_back(*target);
  }
  if (absl::Status status = CheckStaging(spec, window_bytes, sources, targets); !status.ok()) return status;
  return CheckOverlaps(spec.kind, sources, targets);
}

}  // namespace

const char* ElementName(ElementType element) {
  static constexpr const char* kNames[] = {"bool", "i8",  "i16",  "i32", "i64", "u8",       "u16",   "u32",
                                           "u64",  "f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2"};
  return kNames[static_cast<size_t>(element)];
}

const char* ReduceName(ReduceKind reduce) {
  static constexpr const char* kNames[] = {"add", "mul", "max", "min", "and", "or"};
  return kNames[static_cast<size_t>(reduce)];
}

namespace {
// Beyond these, positions would not be exact: a mesh has at most 2^20 ranks.
constexpr uint64_t kMaxRangeNumber = uint64_t{1} << 48;
constexpr int64_t kMaxRangeScale = int64_t{1} << 40;
constexpr int64_t kMaxRangeOffset = int64_t{1} << 60;

absl::Status CheckRange(const TileRange& range, uint64_t group_size) {
  for (uint64_t number : {range.size, range.tile, range.length, range.divisor, range.step}) {
    if (number > kMaxRangeNumber) return absl::InvalidArgumentError("a number of a range is larger than 2^48");
  }
  if (range.divisor == 0 || range.step == 0) {
    return absl::InvalidArgumentError("a range has a divisor or a step of zero");
  }
  if (range.length > kMaxBytes / range.step || range.tile > kMaxBytes / group_size || range.scale > kMaxRangeScale ||
      range.scale < -kMaxRangeScale || range.offset > kMaxRangeOffset || range.offset < -kMaxRangeOffset) {
    return absl::InvalidArgumentError("a range begins or ends beyond 2^62");
  }
  if (range.tile * group_size < range.size) {
    return absl::InvalidArgumentError(
        absl::StrCat(group_size, " tiles of ", range.tile, " elements do not hold ", range.size));
  }
  return absl::OkStatus();
}

absl::StatusOr<OperandCounts> CheckGatherRange(const CollectiveOperand& operand, uint64_t group_size) {
  if (absl::Status status = CheckRange(operand.range, group_size); !status.ok()) return status;
  const uint64_t size = ElementSize(operand.element);
  uint64_t source = 0, target = 0;
  if (!Product({operand.outer, operand.range.tile, operand.inner, size}, &source) ||
      !Product({operand.outer, operand.range.length, operand.inner, size}, &target)) {
    return TooLarge();
  }
  if (source / size != operand.count) return CountMismatch(operand, source / size);
  return OperandCounts{source / size, target / size};
}
}  // namespace

absl::StatusOr<OperandCounts> CheckOperand(CollectiveKind kind, const CollectiveOperand& operand, uint64_t group_size) {
  OperandCounts counts{operand.count, operand.count};
  const uint64_t size = ElementSize(operand.element);
  uint64_t small = 0, large = 0;
  if (!Product({operand.count, size}, &small)) return TooLarge();
  switch (const TargetForm form = TraitsOf(kind).target) {
    case TargetForm::kSame:
      return counts;
    case TargetForm::kGathered:
    case TargetForm::kScattered: {
      if (!Product({operand.outer, operand.inner, group_size, size}, &large)) return TooLarge();
      large /= size;
      small = large / group_size;
      counts = form == TargetForm::kGathered ? OperandCounts{small, large} : OperandCounts{large, small};
      if (counts.source != operand.count) return CountMismatch(operand, counts.source);
      return counts;
    }
    case TargetForm::kExchanged: {
      std::vector<uint64_t> factors = operand.dims;
      factors.push_back(size);
      if (!Product(factors, &large)) return TooLarge();
      if (large / size != operand.count) return CountMismatch(operand, large / size);
      if (operand.split >= operand.dims.size() || operand.concat >= operand.dims.size()) {
        return absl::InvalidArgumentError(absl::StrCat("split ", operand.split, " or concat ", operand.concat,
                                                       " is not one of ", operand.dims.size(), " dimensions"));
      }
      if (operand.dims[operand.split] % group_size != 0) {
        return absl::InvalidArgumentError(absl::StrCat("dimension ", operand.split, " of size ",
                                                       operand.dims[operand.split], " cannot be cut in ", group_size,
                                                       " parts"));
      }
      return counts;
    }
    case TargetForm::kRange:
      return CheckGatherRange(operand, group_size);
  }
  return absl::InvalidArgumentError("unknown kind of collective");
}

absl::Status CheckSpec(const Mesh& mesh, const CollectiveSpec& spec, uint64_t window_bytes) {
  absl::Status status = CheckUnlocated(mesh, spec, window_bytes);
  return status.ok() ? status : Annotate(status, spec);
}

}  // namespace sgd::comm
