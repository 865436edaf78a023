// Summaries of the values that the instructions of a step computed, by which ranks with shards of a value and one
// rank with the full value find out whether they agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/operands.h"
#include "runtime/exec/executor.h"
#include "runtime/guard/rounding_noise.h"

namespace sgd::guard {

enum class RecordKind : uint8_t {
  kInput,      // of the step, `operand` by position in the rank's program
  kExecution,  // an instruction has run; no values
  kWritten,    // floats that it has written to an operand; those of its execution follow it
  kReceived,   // floats of a message that it is about to read: whoever receives it does not know their type
};

struct ValueRecord {
  uint32_t instruction = 0;  // of a Done the collective that it ends
  uint16_t operand = 0;      // by position in ForEachOperand
  RecordKind kind = RecordKind::kExecution;
  artifact::ElementType element = artifact::ElementType::F32;
  uint64_t count = 0;
  double sum = 0, squares = 0, magnitudes = 0;  // of all elements: sum, sum of squares, sum of magnitudes

  bool has_values() const { return kind != RecordKind::kExecution; }
};
using ValueRecords = std::vector<ValueRecord>;

// Observes a step.
class ValueRecorder : public exec::InstructionObserver {
 public:
  // Steps of more executions than this are recorded in part.
  static constexpr size_t kMostRecords = size_t{1} << 18;

  // `noise` moves values before they are recorded; null for none. Borrows all.
  ValueRecorder(const artifact::Artifact& root, const exec::Executor& executor, RoundingNoise* noise)
      : root_(root), executor_(executor), noise_(noise) {}

  // The inputs that this rank holds, once they are filled.
  void AddInputs();

  void Before(uint64_t index) override;
  void After(uint64_t index) override;

  const ValueRecords& records() const { return records_; }

 private:
  // `record` but for its values.
  void Add(ValueRecord record, const artifact::Slice& slice);

  const artifact::Artifact& root_;
  const exec::Executor& executor_;
  RoundingNoise* const noise_;
  std::vector<artifact::Slice> received_;  // messages that nobody has read yet: their types are unknown
  ValueRecords records_;
};

// For messages between ranks of one host.
std::string_view BytesOf(const ValueRecords& records);
// DataLoss for other bytes.
absl::StatusOr<ValueRecords> RecordsOf(std::string_view bytes);

}  // namespace sgd::guard
