// Records are in the order of executions: one without an operand, then the values that the instruction has written,
// and before it those that it has read of messages.
#include "runtime/guard/first_difference.h"

#include <algorithm>
#include <map>

#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/instruction_text.h"
#include "runtime/artifact/operands.h"

namespace sgd::guard {
namespace {

using artifact::Instruction;
using artifact::Operand;
using artifact::Slice;

void KeepEarlier(std::optional<size_t> other, std::optional<size_t>& source) {
  if (other && (!source || *other < *source)) source = other;
}

std::optional<Slice> SliceOf(const Instruction& instruction, const artifact::KernelTable* kernels, uint16_t number) {
  std::optional<Slice> slice;
  uint16_t position = 0;
  ForEachOperand(instruction, kernels, [&](const Operand& operand) {
    if (position++ == number && operand.slice != nullptr) slice = *operand.slice;
  });
  return slice;
}

// Whether all that it gives are sums or parts of what it reads, so that right operands give what one rank has.
bool KeepsValues(const Instruction& instruction) {
  const auto* collective = instruction.op_as_Collective();
  if (collective == nullptr) return false;
  switch (collective->kind()) {
    case artifact::CollectiveKind::AllReduce:
    case artifact::CollectiveKind::AllGather:
    case artifact::CollectiveKind::ReduceScatter:
    case artifact::CollectiveKind::AllToAll:
    case artifact::CollectiveKind::Broadcast:
      return true;
    default:
      return false;
  }
}

}  // namespace

FirstDifference::FirstDifference(const artifact::Program& program, const artifact::KernelTable* kernels,
                                 const std::vector<ValueSums>& values, const OneRankValues& known, uint32_t ranks)
    : program_(program), kernels_(kernels), values_(values), known_(known), ranks_(ranks) {
  for (const ValueSums& value : values_)
    matches_.push_back(value.record.has_values() ? MatchOf(value, 1) : Match::kUnknown);
  MatchLoops();
  for (size_t i = 0; i < values_.size();) {
    if (values_[i].record.kind == RecordKind::kReceived) NoteReceived(i);
    size_t end = i + 1;
    while (end < values_.size() && values_[end].record.kind == RecordKind::kWritten) ++end;
    if (values_[i].record.kind == RecordKind::kExecution) Step(i, end);
    i = end;
  }
}

OneRankValues::Match FirstDifference::MatchOf(const ValueSums& value, uint64_t executions) const {
  const Instruction& instruction = artifact::InstructionAt(program_, value.record.instruction);
  return known_.Find(value, artifact::LocationOf(program_, instruction), ranks_ * executions);
}

// Of a loop over micro-batches, one rank may have all of them at once.
void FirstDifference::MatchLoops() {
  std::map<std::pair<uint32_t, uint16_t>, std::vector<size_t>> executions;
  for (size_t i = 0; i < values_.size(); ++i) {
    const ValueRecord& record = values_[i].record;
    if (record.kind == RecordKind::kWritten) executions[{record.instruction, record.operand}].push_back(i);
  }
  for (const auto& [operand, values] : executions) {
    const auto is_right = [&](size_t i) { return matches_[i] == Match::kEqual || matches_[i] == Match::kSummands; };
    if (values.size() < 2 || std::ranges::all_of(values, is_right)) continue;
    ValueSums total = values_[values[0]];
    for (size_t i = 1; i < values.size(); ++i) total = TotalOf(total, values_[values[i]]);
    const Match match = MatchOf(total, values.size());
    if (match != Match::kEqual && match != Match::kSummands) continue;
    for (size_t i : values) matches_[i] = match;
  }
}

size_t FirstDifference::AddSource(DifferenceSource::Kind kind, const ValueRecord& record, const Read& read) {
  // A collective is there to add them up.
  const bool adds_up = KeepsValues(artifact::InstructionAt(program_, record.instruction));
  sources_.push_back({kind, record.instruction, executions_, adds_up ? std::nullopt : read.summands, {}});
  return sources_.size() - 1;
}

void FirstDifference::NoteReceived(size_t value) {
  const ValueRecord& record = values_[value].record;
  const auto slice = SliceOf(artifact::InstructionAt(program_, record.instruction), kernels_, record.operand);
  if (!slice || matches_[value] == Match::kEqual || matches_[value] == Match::kSummands) return;
  origins_.Set(*slice, {AddSource(DifferenceSource::Kind::kReceived, record, {}), std::nullopt});
}

FirstDifference::Read FirstDifference::ReadOf(const Instruction& instruction) const {
  Read read;
  ForEachOperand(instruction, kernels_, [&](const Operand& operand) {
    if (operand.slice == nullptr || operand.access == artifact::Access::kWrite) return;
    if (const std::optional<Origin> summands = summands_.Find(*operand.slice)) read.summands = summands->first;
    const std::optional<Origin> origin = origins_.Find(*operand.slice);
    if (!origin) return;
    KeepEarlier(origin->first, read.first);
    KeepEarlier(origin->nan, read.sure);
  });
  return read;
}

void FirstDifference::NoteWritten(size_t value, const Slice& slice, Read read) {
  const ValueRecord& record = values_[value].record;
  const Match match = matches_[value];
  if (match == Match::kSummands) {
    summands_.Set(slice, {record.instruction, std::nullopt});
  } else {
    summands_.Clear(slice);
  }
  if (match == Match::kEqual || match == Match::kSummands) return origins_.Clear(slice);
  // A kernel may update what is there.
  if (const std::optional<Origin> origin = origins_.Find(slice)) {
    KeepEarlier(origin->first, read.first);
    KeepEarlier(origin->nan, read.sure);
  }
  const bool is_sure =
      match == Match::kDiffers || (!read.first && KeepsValues(artifact::InstructionAt(program_, record.instruction)));
  const auto kind = is_sure ? DifferenceSource::Kind::kDiffers : DifferenceSource::Kind::kUnknown;
  if (!read.first) read.first = AddSource(kind, record, read);
  if (is_sure && !read.sure)
    read.sure = sources_[*read.first].kind == kind ? *read.first : AddSource(kind, record, read);
  origins_.Set(slice, {*read.first, read.sure});
}

void FirstDifference::Step(size_t begin, size_t end) {
  const Instruction& instruction = artifact::InstructionAt(program_, values_[begin].record.instruction);
  ++executions_;
  if (const auto* copy = instruction.op_as_Copy()) {
    const Slice source(copy->source()->space(), copy->source()->offset(), copy->target()->size());
    summands_.Copy(source, *copy->target());
    return origins_.Copy(source, *copy->target());
  }
  const Read read = ReadOf(instruction);
  std::map<uint16_t, size_t> written;
  for (size_t i = begin + 1; i < end; ++i) written[values_[i].record.operand] = i;
  uint16_t number = 0;
  ForEachOperand(instruction, kernels_, [&](const Operand& operand) {
    const auto value = written.find(number++);
    if (operand.slice == nullptr || !operand.is_written() || operand.slice->size() == 0) return;
    if (value != written.end()) return NoteWritten(value->second, *operand.slice, read);
    summands_.Clear(*operand.slice);
    // Integers and bytes of unknown type: wrong where what they are computed from is.
    if (!read.first) return origins_.Clear(*operand.slice);
    origins_.Set(*operand.slice, {*read.first, read.sure});
  });
}

std::optional<DifferenceSource> FirstDifference::SourceOf(const Slice& output) const {
  if (const std::optional<Origin> origin = origins_.Find(output)) {
    const DifferenceSource& first = sources_[origin->first];
    if (!origin->nan || *origin->nan == origin->first) return first;
    DifferenceSource sure = sources_[*origin->nan];
    sure.begin = first.instruction;
    if (first.summands) sure.summands = first.summands;
    return sure;
  }
  const std::optional<Origin> summands = summands_.Find(output);
  if (!summands) return std::nullopt;
  return DifferenceSource{DifferenceSource::Kind::kSummands, summands->first, executions_, {}, {}};
}

}  // namespace sgd::guard
