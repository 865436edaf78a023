// One walk over the instructions with the list of collectives that are under way.
#include "runtime/artifact/verify_overlap.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {
namespace {

bool Overlap(const Slice& a, const Slice& b) {
  return a.space() == b.space() && a.offset() < b.offset() + b.size() && b.offset() < a.offset() + a.size();
}

// Slices that an instruction reads and writes; what it updates is among the writes.
struct Accesses {
  std::vector<Slice> reads;
  std::vector<Slice> writes;

  void Read(const Slice* slice) {
    if (slice != nullptr && slice->size() != 0) reads.push_back(*slice);
  }
  void Write(const Slice* slice) {
    if (slice != nullptr && slice->size() != 0) writes.push_back(*slice);
  }
};

Accesses AccessesOf(const Instruction& instruction) {
  Accesses accesses;
  if (const Launch* launch = instruction.op_as_Launch()) {
    const uint64_t count = Size(launch->buffers());
    for (uint64_t i = 0; i < count; ++i) {
      const Slice* slice = launch->buffers()->Get(static_cast<uint32_t>(i));
      i + launch->outputs() < count ? accesses.Read(slice) : accesses.Write(slice);
    }
  } else if (const Matmul* matmul = instruction.op_as_Matmul()) {
    for (const Slice* slice : {matmul->a(), matmul->b(), matmul->bias()}) accesses.Read(slice);
    for (const Slice* slice : {matmul->c(), matmul->workspace()}) accesses.Write(slice);
  } else if (const Copy* copy = instruction.op_as_Copy()) {
    accesses.Read(copy->source());
    accesses.Write(copy->target());
  } else if (const Fill* fill = instruction.op_as_Fill()) {
    accesses.Write(fill->target());
  } else if (const Collective* collective = instruction.op_as_Collective()) {
    for (const CollectiveOperand* operand : *collective->operands()) {
      accesses.Read(operand->source());
      accesses.Write(operand->target());
    }
  }
  return accesses;
}

bool OverlapAny(const std::vector<Slice>& some, const std::vector<Slice>& others) {
  return std::ranges::any_of(some, [&](const Slice& one) {
    return std::ranges::any_of(others, [&](const Slice& other) { return Overlap(one, other); });
  });
}

struct UnderWay {
  uint32_t start;
  Accesses accesses;
};

absl::Status Error(const Program& program, uint32_t index, const std::string& what) {
  const Instruction& instruction = *program.instructions()->Get(index);
  return absl::InvalidArgumentError(absl::StrCat("instruction ", index, " (", OperationName(instruction), "): ", what));
}

}  // namespace

absl::Status VerifyOverlap(const Program& program) {
  std::vector<UnderWay> under_way;
  for (uint32_t i = 0; i < Size(program.instructions()); ++i) {
    const Instruction& instruction = *program.instructions()->Get(i);
    if (const Done* done = instruction.op_as_Done()) {
      const size_t ended =
          std::erase_if(under_way, [&](const UnderWay& collective) { return collective.start == done->start(); });
      if (ended == 0) {
        return Error(program, i, absl::StrCat("instruction ", done->start(), " is no collective under way"));
      }
      continue;
    }
    Accesses accesses = AccessesOf(instruction);
    for (const UnderWay& collective : under_way) {
      if (OverlapAny(accesses.writes, collective.accesses.writes) ||
          OverlapAny(accesses.reads, collective.accesses.writes)) {
        return Error(program, i,
                     absl::StrCat("touches a target of instruction ", collective.start, ", which is under way"));
      }
      if (OverlapAny(accesses.writes, collective.accesses.reads)) {
        return Error(program, i,
                     absl::StrCat("writes a source of instruction ", collective.start, ", which is under way"));
      }
    }
    const Collective* collective = instruction.op_as_Collective();
    if (collective != nullptr && collective->starts()) under_way.push_back({i, std::move(accesses)});
  }
  if (under_way.empty()) return absl::OkStatus();
  return Error(program, under_way.front().start, "is started and never done");
}

}  // namespace sgd::artifact
