// One walk over the instructions with the list of collectives that are in flight.
#include "runtime/artifact/verify_overlap.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/accesses.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"

namespace sgd::artifact {
namespace {

bool OverlapAny(const std::vector<Slice>& some, const std::vector<Slice>& others) {
  return std::ranges::any_of(some, [&](const Slice& one) {
    return std::ranges::any_of(others, [&](const Slice& other) { return Overlap(one, other); });
  });
}

// A slice that a launch of a group touches.
struct Touch {
  Slice slice;
  bool is_write;
  uint32_t launch;
};

// Of the slices seen so far, in order of their begin, the one that ends last, and the one that does
// so among those of other launches.
class Furthest {
 public:
  void Add(const Touch& touch) {
    const uint64_t end = touch.slice.offset() + touch.slice.size();
    if (touch.launch == first_.launch || end > first_.end) {
      if (touch.launch != first_.launch) second_ = first_;
      first_ = {std::max(end, touch.launch == first_.launch ? first_.end : 0), touch.launch};
    } else if (end > second_.end) {
      second_ = {end, touch.launch};
    }
  }
  // Whether a slice of another launch reaches beyond the touched slice's begin.
  bool Reaches(const Touch& touch) const {
    return (first_.launch == touch.launch ? second_ : first_).end > touch.slice.offset();
  }

 private:
  struct End {
    uint64_t end = 0;
    uint32_t launch = UINT32_MAX;
  };
  End first_, second_;
};

// No launch writes what another one of the group reads or writes.
bool IsIndependent(const LaunchGroup& group) {
  std::vector<Touch> touches;
  for (uint32_t i = 0; i < group.launches()->size(); ++i) {
    Accesses accesses;
    ForEachOperand(*group.launches()->Get(i), [&](const Operand& operand) { accesses.Add(operand); });
    for (const Slice& slice : accesses.reads) touches.push_back({slice, false, i});
    for (const Slice& slice : accesses.writes) touches.push_back({slice, true, i});
  }
  std::ranges::sort(touches, {}, [](const Touch& touch) { return touch.slice.offset(); });
  std::map<Space, std::pair<Furthest, Furthest>> seen;  // what is written, and all
  for (const Touch& touch : touches) {
    auto& [written, touched] = seen[touch.slice.space()];
    if ((touch.is_write ? touched : written).Reaches(touch)) return false;
    touched.Add(touch);
    if (touch.is_write) written.Add(touch);
  }
  return true;
}

struct UnderWay {
  uint32_t start;
  Accesses accesses;
};

// Every slice of an instruction is compared with every one of the collectives in flight beside it.
constexpr uint64_t kMaxComparisons = uint64_t{1} << 32;

uint64_t SlicesOf(const Accesses& accesses) { return accesses.reads.size() + accesses.writes.size(); }

// The collectives in flight and how many pairs of slices have been compared.
struct Flights {
  std::vector<UnderWay> under_way;
  uint64_t comparisons = 0;
};

// Blocks of loops and branches are checked where these are: nothing that has begun in a block outlives it.
absl::Status VerifyOverlapIn(const Program& program, Block block, Flights& flights) {
  std::vector<UnderWay>& under_way = flights.under_way;
  for (uint64_t at = block.begin; at < block.end; at = Next(program, at)) {
    const uint32_t i = static_cast<uint32_t>(at);
    const Instruction& instruction = InstructionAt(program, i);
    for (const Block& inner : BlocksOf(program, i)) {
      if (absl::Status status = VerifyOverlapIn(program, inner, flights); !status.ok()) return status;
    }
    if (const Done* done = instruction.op_as_Done()) {
      const size_t ended = std::erase_if(under_way, [&](const UnderWay& collective) {
        return collective.start == done->start() && collective.start >= block.begin;
      });
      if (ended == 0) {
        return InstructionError(program, i, absl::StrCat("instruction ", done->start(), " is no collective in flight"));
      }
      continue;
    }
    if (const LaunchGroup* group = instruction.op_as_LaunchGroup(); group != nullptr && !IsIndependent(*group)) {
      return InstructionError(program, i, "a launch of the group writes what another one touches");
    }
    Accesses accesses = AccessesOf(instruction);
    for (const UnderWay& collective : under_way) {
      flights.comparisons += SlicesOf(accesses) * SlicesOf(collective.accesses);
      if (flights.comparisons > kMaxComparisons) {
        return InstructionError(
            program, i,
            absl::StrCat("the program has more than ", kMaxComparisons,
                         " pairs of slices, one of a collective in flight and one of an instruction beside it"));
      }
      if (OverlapAny(accesses.writes, collective.accesses.writes) ||
          OverlapAny(accesses.reads, collective.accesses.writes)) {
        return InstructionError(
            program, i, absl::StrCat("touches a target of instruction ", collective.start, ", which is in flight"));
      }
      if (OverlapAny(accesses.writes, collective.accesses.reads)) {
        return InstructionError(
            program, i, absl::StrCat("writes a source of instruction ", collective.start, ", which is in flight"));
      }
    }
    const Collective* collective = instruction.op_as_Collective();
    if (collective != nullptr && collective->starts()) under_way.push_back({i, std::move(accesses)});
  }
  for (const UnderWay& collective : under_way) {
    if (collective.start >= block.begin)
      return InstructionError(program, collective.start, "is started and never done");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyOverlap(const Program& program) {
  Flights flights;
  return VerifyOverlapIn(program, {0, Size(program.instructions())}, flights);
}

}  // namespace sgd::artifact
