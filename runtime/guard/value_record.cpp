// Sums are of doubles in memory order.
#include "runtime/guard/value_record.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "runtime/artifact/accesses.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/reader.h"
#include "runtime/guard/observed_operands.h"
#include "runtime/guard/values.h"

namespace sgd::guard {
namespace {

using artifact::Operand;

static_assert(std::is_trivially_copyable_v<ValueRecord>);

}  // namespace

void ValueRecorder::Add(ValueRecord record, const artifact::Slice& slice) {
  const std::span<const std::byte> bytes(executor_.prepared().memory().Address(slice), slice.size());
  for (size_t begin = 0; begin < bytes.size(); begin += kPartBytes) {
    const std::span<const std::byte> part = bytes.subspan(begin, std::min(kPartBytes, bytes.size() - begin));
    for (const double value : NumbersOf(record.element, part)) {
      ++record.count;
      record.sum += value;
      record.squares += value * value;
      record.magnitudes += std::abs(value);
    }
  }
  records_.push_back(record);
}

void ValueRecorder::AddInputs() {
  const auto* inputs = executor_.prepared().source().inputs();
  for (uint32_t i = 0; i < artifact::Size(inputs); ++i) {
    const artifact::Input& input = *inputs->Get(i);
    if (!artifact::IsFloat(input.type()->element())) continue;
    Add({.operand = static_cast<uint16_t>(i), .kind = RecordKind::kInput, .element = input.type()->element()},
        *input.slice());
  }
}

void ValueRecorder::Before(uint64_t index) {
  if (!received_.empty() && records_.size() < kMostRecords) {
    uint16_t number = 0;
    ForEachOperand(executor_.prepared().source(index), root_.kernels(), [&](const Operand& operand) {
      if (HasFloats(operand) && operand.access != artifact::Access::kWrite) {
        const auto is_read = [&](const artifact::Slice& slice) { return artifact::Overlap(slice, *operand.slice); };
        if (std::erase_if(received_, is_read) > 0) {
          Add({.instruction = static_cast<uint32_t>(index),
               .operand = number,
               .kind = RecordKind::kReceived,
               .element = *operand.element},
              *operand.slice);
        }
      }
      ++number;
    });
  }
  if (noise_ != nullptr) noise_->Before(index);
}

void ValueRecorder::After(uint64_t index) {
  if (noise_ != nullptr) noise_->After(index);
  const artifact::Instruction* instruction = &executor_.prepared().source(index);
  // A collective that is only begun has written when its Done is over.
  if (StartsCollective(*instruction) || records_.size() >= kMostRecords) return;
  if (const auto* receive = instruction->op_as_Receive()) received_.push_back(*receive->target());
  if (const auto* done = instruction->op_as_Done()) {
    index = done->start();
    instruction = &executor_.prepared().source(index);
  }
  records_.push_back({.instruction = static_cast<uint32_t>(index)});
  uint16_t number = 0;
  ForEachOperand(*instruction, root_.kernels(), [&](const Operand& operand) {
    if (HasFloats(operand) && operand.is_written()) {
      Add({.instruction = static_cast<uint32_t>(index),
           .operand = number,
           .kind = RecordKind::kWritten,
           .element = *operand.element},
          *operand.slice);
    }
    ++number;
  });
}

std::string_view BytesOf(const ValueRecords& records) {
  return {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(ValueRecord)};
}

absl::StatusOr<ValueRecords> RecordsOf(std::string_view bytes) {
  if (bytes.size() % sizeof(ValueRecord) != 0) return absl::DataLossError("a rank sends half a record of its values");
  ValueRecords records(bytes.size() / sizeof(ValueRecord));
  std::memcpy(records.data(), bytes.data(), bytes.size());
  return records;
}

}  // namespace sgd::guard
