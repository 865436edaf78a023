// Looks at what an instruction reads before it runs, since it may write in place, and at what it has written
// afterwards.
#include "runtime/guard/non_finite_trace.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/element_type.h"
#include "runtime/guard/observed_operands.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/data/safetensors.h"

namespace sgd::guard {
namespace {

using artifact::Instruction;
using artifact::Operand;
using artifact::Operation;
using artifact::Slice;

bool Writes(const artifact::Launch& launch, const Slice& slice) {
  bool writes = false;
  ForEachOperand(launch,
                 [&](const Operand& operand) { writes = writes || (operand.is_written() && operand.slice == &slice); });
  return writes;
}

// The lines of the kernels that write an operand of the instruction: "divf at model.py:9:8".
std::vector<std::string> LinesOf(const artifact::Program& program, const Instruction& instruction, const Slice& slice) {
  std::vector<std::string> lines;
  const auto add = [&](const artifact::Launch& launch) {
    for (uint32_t i = 0; i < artifact::Size(launch.members()); ++i) {
      const uint32_t number = launch.members()->Get(i);
      if (number < artifact::Size(program.locations())) lines.push_back(program.locations()->Get(number)->str());
    }
  };
  if (const auto* launch = instruction.op_as_Launch()) add(*launch);
  if (const auto* group = instruction.op_as_LaunchGroup()) {
    for (const artifact::Launch* launch : *group->launches()) {
      if (Writes(*launch, slice)) add(*launch);
    }
  }
  if (const auto* tiled = instruction.op_as_Tiled()) {
    for (const artifact::TileStep* step : *tiled->steps()) {
      if (const auto* launch = step->op_as_Launch()) add(*launch);
    }
  }
  return lines;
}

// "[3, 5]", the place of a shard's element in the whole tensor; empty for padding.
std::string PlaceOf(const data::Shard& shard, uint64_t element) {
  const uint64_t size = artifact::ElementSize(shard.type().element);
  std::optional<uint64_t> global;
  shard.ForEachRun([&](uint64_t global_offset, uint64_t local_offset, uint64_t bytes) {
    const uint64_t offset = element * size;
    if (offset >= local_offset && offset - local_offset < bytes)
      global = (global_offset + offset - local_offset) / size;
  });
  if (!global) return "";
  std::vector<uint64_t> place;
  for (size_t d = shard.type().global_dims.size(); d > 0; --d) {
    place.push_back(*global % shard.type().global_dims[d - 1]);
    *global /= shard.type().global_dims[d - 1];
  }
  std::ranges::reverse(place);
  return absl::StrCat("[", absl::StrJoin(place, ", "), "]");
}

}  // namespace

NonFiniteTrace::NonFiniteTrace(const artifact::Artifact& root, const exec::Executor& executor)
    : root_(root), executor_(executor) {
  for (uint32_t i = 0; i < artifact::Size(executor.prepared().source().inputs()); ++i) AddInput(i);
}

void NonFiniteTrace::AddInput(uint32_t index) {
  const artifact::Input& input = *executor_.prepared().source().inputs()->Get(index);
  const std::span<const std::byte> bytes = BytesOf(*input.slice());
  const std::optional<uint64_t> element = FirstNonFinite(input.type()->element(), bytes);
  if (!element) return;
  const size_t position = input.position() < 0 ? index : static_cast<size_t>(input.position());
  const ValueKinds kinds = KindsOf(input.type()->element(), bytes);
  const size_t source =
      AddSource({SourceKind::kInput, index, kinds, {}, PlaceOf(executor_.inputs()[position].shard, *element)});
  origins_.Set(*input.slice(), {source, kinds.has_nan ? std::optional(source) : std::nullopt});
}

std::span<const std::byte> NonFiniteTrace::BytesOf(const Slice& slice) const {
  return {executor_.prepared().memory().Address(slice), slice.size()};
}

size_t NonFiniteTrace::AddSource(const Source& source) {
  sources_.push_back(source);
  return sources_.size() - 1;
}

size_t NonFiniteTrace::AddInstruction(uint64_t index, const ValueKinds& kinds, const Slice& written) {
  const Instruction& instruction = executor_.prepared().source(index);
  const bool is_collective = instruction.op_type() == Operation::Collective;
  return AddSource({is_collective ? SourceKind::kPeers : SourceKind::kInstruction, index, kinds,
                    LinesOf(executor_.prepared().source(), instruction, written)});
}

void NonFiniteTrace::NoteRead(uint64_t index, const Operand& operand, Read& read) {
  const ValueKinds kinds = KindsOf(*operand.element, BytesOf(*operand.slice));
  if (kinds.is_finite()) return;
  std::optional<Origin> origin = origins_.Find(*operand.slice);
  if (!origin) {
    // A constant, or what no instruction has written.
    const size_t source = AddSource({SourceKind::kMemory, index, kinds});
    origin = {source, kinds.has_nan ? std::optional(source) : std::nullopt};
  }
  if (kinds.has_nan && !origin->nan) origin->nan = origin->first;
  // Not-a-number matters more than an infinity, which may be meant.
  if (!read.first || (origin->nan && !read.nan)) read.first = origin->first;
  if (!read.nan) read.nan = origin->nan;
}

void NonFiniteTrace::NoteStale(const Operand& operand) {
  const std::span<const std::byte> bytes = BytesOf(*operand.slice);
  const std::optional<uint64_t> element = FirstNonFinite(*operand.element, bytes);
  if (!element) return;
  const uint64_t size = artifact::ElementSize(*operand.element);
  const std::span<const std::byte> value = bytes.subspan(*element * size, size);
  stale_[operand.slice->offset()] = {*element, std::string(reinterpret_cast<const char*>(value.data()), size)};
}

// Whether what is there has been there before: an instruction may write to some of its target alone.
bool NonFiniteTrace::IsStale(const Operand& operand) const {
  const auto stale = stale_.find(operand.slice->offset());
  if (stale == stale_.end()) return false;
  const uint64_t size = stale->second.bytes.size();
  const std::span<const std::byte> value = BytesOf(*operand.slice).subspan(stale->second.element * size, size);
  return std::ranges::equal(value, std::as_bytes(std::span(stale->second.bytes))) &&
         FirstNonFinite(*operand.element, BytesOf(*operand.slice)) == stale->second.element;
}

void NonFiniteTrace::Before(uint64_t index) {
  const Instruction& instruction = executor_.prepared().source(index);
  stale_.clear();
  Read& read = StartsCollective(instruction) ? in_flight_[index] : read_;
  read = {};
  ForEachOperand(instruction, root_.kernels(), [&](const Operand& operand) {
    if (!HasFloats(operand)) return;
    if (operand.access != artifact::Access::kWrite) NoteRead(index, operand, read);
    // Peers may be writing already to what a collective gives.
    const bool is_own = operand.access == artifact::Access::kWrite && instruction.op_type() != Operation::Collective;
    if (is_own) NoteStale(operand);
  });
}

void NonFiniteTrace::NoteWritten(uint64_t index, const Operand& operand, const Read& read) {
  const ValueKinds kinds = KindsOf(*operand.element, BytesOf(*operand.slice));
  if (kinds.is_finite()) return origins_.Clear(*operand.slice);
  Origin origin;
  if (read.first) {
    origin = {*read.first, read.nan};
    if (kinds.has_nan && !origin.nan) origin.nan = AddInstruction(index, kinds, *operand.slice);
  } else if (origins_.Find(*operand.slice) && IsStale(operand)) {
    return;
  } else {
    origin.first = AddInstruction(index, kinds, *operand.slice);
    origin.nan = origin.first;
  }
  if (!kinds.has_nan) origin.nan.reset();
  origins_.Set(*operand.slice, origin);
}

void NonFiniteTrace::After(uint64_t index) {
  // A collective that is only begun has written when its Done is over.
  if (StartsCollective(executor_.prepared().source(index))) return;
  const auto* done = executor_.prepared().source(index).op_as_Done();
  if (done != nullptr) index = done->start();
  const Read read = done != nullptr ? in_flight_[index] : read_;
  const Instruction& instruction = executor_.prepared().source(index);
  if (const auto* copy = instruction.op_as_Copy())
    return origins_.Copy(Slice(copy->source()->space(), copy->source()->offset(), copy->target()->size()),
                         *copy->target());
  if (const auto* receive = instruction.op_as_Receive()) {
    const size_t source = AddSource({SourceKind::kPeers, index, {}});
    return origins_.Set(*receive->target(), {source, std::nullopt});
  }
  ForEachOperand(instruction, root_.kernels(), [&](const Operand& operand) {
    if (!operand.is_written() || operand.slice == nullptr || operand.slice->size() == 0) return;
    if (HasFloats(operand)) return NoteWritten(index, operand, read);
    origins_.Clear(*operand.slice);
  });
}

std::optional<NonFiniteTrace::Cause> NonFiniteTrace::CauseOf(size_t output) const {
  const auto* outputs = executor_.prepared().source().outputs();
  for (uint32_t i = 0; i < artifact::Size(outputs); ++i) {
    const artifact::Output& held = *outputs->Get(i);
    if ((held.position() < 0 ? i : static_cast<size_t>(held.position())) != output) continue;
    if (KindsOf(held.type()->element(), BytesOf(*held.slice())).is_finite()) return std::nullopt;
    const std::optional<Origin> origin = origins_.Find(*held.slice());
    if (!origin) return std::nullopt;
    const Source& first = sources_[origin->first];
    Cause cause{.is_of_peers = first.kind == SourceKind::kPeers, .text = TextOf(first)};
    if (origin->nan && *origin->nan != origin->first) {
      const Source& nan = sources_[*origin->nan];
      absl::StrAppend(&cause.text, ", from which ", InstructionText(nan), " makes nan");
    }
    return cause;
  }
  return std::nullopt;
}

std::string NonFiniteTrace::TextOf(const Source& source) const {
  switch (source.kind) {
    case SourceKind::kInput:
      return absl::StrCat(
          "input ", data::QuotedName(executor_.prepared().source().inputs()->Get(source.index)->name()->str()),
          " holds ", KindsText(source.kinds), source.place.empty() ? "" : absl::StrCat(" at ", source.place));
    case SourceKind::kMemory:
      return absl::StrCat(InstructionText(source), " reads ", KindsText(source.kinds),
                          " of a constant, or what an older compiler left without types");
    case SourceKind::kInstruction:
      return absl::StrCat(InstructionText(source), " makes ", KindsText(source.kinds), " from finite values");
    case SourceKind::kPeers:
      return absl::StrCat(InstructionText(source), " makes it from finite values of all ranks");
  }
  return "";
}

// "exp at model.py:9:8 in instruction 7 (launch)". A kernel computes several lines, one of which has made it.
std::string NonFiniteTrace::InstructionText(const Source& source) const {
  const exec::PreparedProgram& program = executor_.prepared();
  if (source.lines.empty()) return program.Describe(source.index);
  return absl::StrCat(absl::StrJoin(source.lines, " or "), " in instruction ", source.index, " (",
                      artifact::OperationName(program.source(source.index)), ")");
}

}  // namespace sgd::guard
