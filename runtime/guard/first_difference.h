// Finds the instruction from which on a step of several ranks computes other values than a step of one rank does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/artifact/operands.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/guard/origin_map.h"
#include "runtime/guard/value_sums.h"

namespace sgd::guard {

// Where wrong values of a stage come from.
struct DifferenceSource {
  enum class Kind : uint8_t {
    kDiffers,   // instructions of the same line on one rank have other results
    kUnknown,   // one rank has no such result
    kReceived,  // the instruction reads it of another stage's message
    kSummands,  // the instruction leaves summands of the right result on the ranks
  };
  Kind kind = Kind::kUnknown;
  uint64_t instruction = 0;
  uint64_t execution = 0;              // which of the stage's, in the order of the step
  std::optional<uint64_t> summands{};  // of kDiffers and kUnknown: an instruction whose summands are read as a whole
  std::optional<uint64_t> begin{};  // of kDiffers: an earlier instruction, from which on one rank has no such results
};

// Walks through a step of the ranks that run `program`. A value that one rank has too ends what came before; others
// come from where the values come from that the instruction reads, or begin there. Summands count as right as long as
// what reads them is.
class FirstDifference {
 public:
  // Borrows all; `values` as SumsOf gives them.
  FirstDifference(const artifact::Program& program, const artifact::KernelTable* kernels,
                  const std::vector<ValueSums>& values, const OneRankValues& known, uint32_t ranks);

  // Of what lies in an output's memory at the end of the step; nothing where all values there were found.
  std::optional<DifferenceSource> SourceOf(const artifact::Slice& output) const;

 private:
  using Match = OneRankValues::Match;
  struct Read {
    std::optional<size_t> first;  // the earliest source
    std::optional<size_t> sure;   // the earliest of kDiffers
    std::optional<uint64_t> summands;
  };
  void MatchLoops();
  Match MatchOf(const ValueSums& value, uint64_t executions) const;
  void Step(size_t begin, size_t end);
  void NoteReceived(size_t value);
  Read ReadOf(const artifact::Instruction& instruction) const;
  void NoteWritten(size_t value, const artifact::Slice& slice, Read read);
  size_t AddSource(DifferenceSource::Kind kind, const ValueRecord& record, const Read& read);

  const artifact::Program& program_;
  const artifact::KernelTable* const kernels_;
  const std::vector<ValueSums>& values_;
  const OneRankValues& known_;
  const uint32_t ranks_;
  std::vector<Match> matches_;  // by value
  uint64_t executions_ = 0;
  std::vector<DifferenceSource> sources_;
  // Origin::first is the earliest source, Origin::nan the earliest of kDiffers.
  OriginMap origins_;
  OriginMap summands_;  // Origin::first is an instruction
};

}  // namespace sgd::guard
