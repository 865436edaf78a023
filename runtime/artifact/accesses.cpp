// Sorts operands by what is done to them.
#include "runtime/artifact/accesses.h"

namespace sgd::artifact {

void Accesses::Add(const Operand& operand) {
  if (operand.slice == nullptr || operand.slice->size() == 0) return;
  (operand.is_written() ? writes : reads).push_back(*operand.slice);
  if (operand.access == Access::kUpdate) updates.push_back(*operand.slice);
}

bool Overlap(const Slice& a, const Slice& b) {
  return a.space() == b.space() && a.offset() < b.offset() + b.size() && b.offset() < a.offset() + a.size();
}

Accesses AccessesOf(const Instruction& instruction) {
  Accesses accesses;
  ForEachOperand(instruction, [&](const Operand& operand) { accesses.Add(operand); });
  return accesses;
}

}  // namespace sgd::artifact
