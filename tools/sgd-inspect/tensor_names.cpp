// Follows memory through one copy, since operands of collectives are copied into windows and out of them.
#include "tools/sgd-inspect/tensor_names.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/operands.h"

namespace sgd::inspect {
namespace {

using artifact::Overlap;
using artifact::Size;

bool Holds(const artifact::Slice& whole, const artifact::Slice& part) {
  return whole.space() == part.space() && part.size() > 0 && whole.offset() <= part.offset() &&
         part.offset() + part.size() <= whole.offset() + whole.size();
}

bool OverlapsAny(const artifact::Slice& slice, const std::vector<artifact::Slice>& others) {
  return std::ranges::any_of(others, [&](const artifact::Slice& other) { return Overlap(slice, other); });
}

}  // namespace

TensorNames::TensorNames(const artifact::Program& program) : program_(program) {
  for (uint32_t i = 0; i < Size(program.instructions()); ++i) {
    const artifact::Instruction& instruction = *program.instructions()->Get(i);
    const artifact::LaunchGroup* group = instruction.op_as_LaunchGroup();
    if (group == nullptr) {
      touched_.push_back({i, artifact::AccessesOf(instruction)});
      continue;
    }
    for (const artifact::Launch* launch : *group->launches()) {
      touched_.push_back({i, {}});
      artifact::ForEachOperand(*launch,
                               [&](const artifact::Operand& operand) { touched_.back().accesses.Add(operand); });
    }
  }
}

// The input whose memory holds `slice`, if nothing has written there before the instruction, or the one that the last
// write has copied there.
std::string TensorNames::InputAt(const artifact::Slice& slice, uint32_t index) const {
  const Touched* writer = nullptr;
  for (const Touched& one : touched_) {
    if (one.instruction >= index) break;
    if (OverlapsAny(slice, one.accesses.writes)) writer = &one;
  }
  if (writer != nullptr) {
    const artifact::Copy* copy = program_.instructions()->Get(writer->instruction)->op_as_Copy();
    const bool is_copy = copy != nullptr && Holds(*copy->target(), slice);
    return is_copy && !Overlap(*copy->source(), slice) ? InputAt(*copy->source(), writer->instruction) : "";
  }
  for (uint32_t i = 0; i < Size(program_.inputs()); ++i) {
    const artifact::Input& input = *program_.inputs()->Get(i);
    if (Holds(*input.slice(), slice)) return input.name()->str();
  }
  return "";
}

// The only parameter that something changes which reads `slice` after `end` and before it is overwritten.
std::string TensorNames::UpdatedBy(const artifact::Slice& slice, uint32_t end) const {
  for (const Touched& one : touched_) {
    if (one.instruction <= end) continue;
    if (OverlapsAny(slice, one.accesses.reads)) {
      std::set<std::string> changed;
      for (uint32_t i = 0; i < Size(program_.inputs()); ++i) {
        const artifact::Input& input = *program_.inputs()->Get(i);
        if (input.role() == artifact::InputRole::Parameter && OverlapsAny(*input.slice(), one.accesses.writes))
          changed.insert(input.name()->str());
      }
      for (uint32_t i = 0; i < Size(program_.outputs()); ++i) {
        const artifact::Output& output = *program_.outputs()->Get(i);
        if (output.carry_input() < 0 || !OverlapsAny(*output.slice(), one.accesses.writes)) continue;
        const artifact::Input& input = *program_.inputs()->Get(static_cast<uint32_t>(output.carry_input()));
        if (input.role() == artifact::InputRole::Parameter) changed.insert(input.name()->str());
      }
      if (changed.size() == 1) return *changed.begin();
    }
    if (OverlapsAny(slice, one.accesses.writes)) return "";
  }
  return "";
}

// The output whose memory holds `slice` and that nothing writes after `end`, as the input that it becomes.
std::string TensorNames::ResultAt(const artifact::Slice& slice, uint32_t end) const {
  for (const Touched& one : touched_) {
    if (one.instruction > end && OverlapsAny(slice, one.accesses.writes)) return "";
  }
  for (uint32_t i = 0; i < Size(program_.outputs()); ++i) {
    const artifact::Output& output = *program_.outputs()->Get(i);
    if (!Holds(*output.slice(), slice)) continue;
    if (output.carry_input() < 0) return output.name()->str();
    return absl::StrCat("new ", program_.inputs()->Get(static_cast<uint32_t>(output.carry_input()))->name()->str());
  }
  return "";
}

std::string TensorNames::Of(uint32_t index, uint32_t end, uint32_t operand) const {
  const artifact::Collective& collective = *program_.instructions()->Get(index)->op_as_Collective();
  const artifact::CollectiveOperand& one = *collective.operands()->Get(operand);
  if (std::string name = InputAt(*one.source(), index); !name.empty()) return name;
  if (std::string name = UpdatedBy(*one.target(), end); !name.empty()) return absl::StrCat("gradient of ", name);
  return ResultAt(*one.target(), end);
}

}  // namespace sgd::inspect
