// Follows values that are not finite through a step, from the input or the instruction that they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/artifact/operands.h"
#include "runtime/exec/executor.h"
#include "runtime/guard/origin_map.h"
#include "runtime/guard/values.h"

namespace sgd::guard {

// Observes one step. An instruction is a source where it writes values that are not finite and reads finite ones alone;
// a collective is one where this rank's operands are finite, so that others have sent what is not. Infinities that are
// meant, as those of a mask, are traced like others, and matter only where a result comes from them. Padding counts:
// where it is not finite, it may be named instead of the values beside it.
class NonFiniteTrace : public exec::InstructionObserver {
 public:
  // Before the step, when its inputs are filled. Borrows both.
  NonFiniteTrace(const artifact::Artifact& root, const exec::Executor& executor);

  void Before(uint64_t index) override;
  void After(uint64_t index) override;

  // Where the values of an output come from, after the step.
  struct Cause {
    bool is_of_peers = false;  // another rank knows more
    std::string text;          // "divf at model.py:12:3 in instruction 7 (launch) makes nan from finite values"
  };
  // Nothing where the output, by position of the whole program, is finite or not this rank's.
  std::optional<Cause> CauseOf(size_t output) const;

 private:
  enum class SourceKind { kInput, kMemory, kInstruction, kPeers };
  struct Source {
    SourceKind kind;
    uint64_t index = 0;  // of the input in the rank's program, or of the instruction
    ValueKinds kinds;
    std::vector<std::string> lines = {};  // of an instruction, those that may have made it: "divf at model.py:9:8"
    std::string place = "";               // of an input's first value that is not finite: "[3, 5]"
  };
  // The values that an instruction reads and that are not finite.
  struct Read {
    std::optional<size_t> first;  // sources
    std::optional<size_t> nan;
  };
  // The first value that is not finite in what an instruction is about to write to.
  struct Stale {
    uint64_t element = 0;
    std::string bytes;
  };

  std::span<const std::byte> BytesOf(const artifact::Slice& slice) const;
  void AddInput(uint32_t index);
  void NoteRead(uint64_t index, const artifact::Operand& operand, Read& read);
  void NoteStale(const artifact::Operand& operand);
  bool IsStale(const artifact::Operand& operand) const;
  void NoteWritten(uint64_t index, const artifact::Operand& operand, const Read& read);
  size_t AddSource(const Source& source);
  size_t AddInstruction(uint64_t index, const ValueKinds& kinds, const artifact::Slice& written);
  std::string TextOf(const Source& source) const;
  std::string InstructionText(const Source& source) const;

  const artifact::Artifact& root_;
  const exec::Executor& executor_;
  std::vector<Source> sources_;
  OriginMap origins_;
  Read read_;                           // of the instruction that runs
  std::map<uint64_t, Read> in_flight_;  // of collectives that have begun
  std::map<uint64_t, Stale> stale_;     // by offset, of the instruction that runs
};

}  // namespace sgd::guard
