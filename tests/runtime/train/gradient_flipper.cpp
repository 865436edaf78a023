// Gradients are what ranks add up: operands of collectives with more than one element.
#include "tests/runtime/train/gradient_flipper.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/artifact/operands.h"

namespace sgd::train {
namespace {

struct Gradient {
  uint64_t instruction;  // before which the summand, or after which the sum, is there
  artifact::Slice slice;
};

uint64_t EndOf(const artifact::Program& program, uint32_t start) {
  if (!program.instructions()->Get(start)->op_as_Collective()->starts()) return start;
  for (uint32_t i = start + 1; i < program.instructions()->size(); ++i) {
    const artifact::Done* done = program.instructions()->Get(i)->op_as_Done();
    if (done != nullptr && done->start() == start) return i;
  }
  return start;
}

std::vector<Gradient> GradientsOf(const artifact::Program& program, GradientPart part) {
  std::vector<Gradient> gradients;
  for (uint32_t i = 0; i < artifact::Size(program.instructions()); ++i) {
    const artifact::Collective* collective = program.instructions()->Get(i)->op_as_Collective();
    if (collective == nullptr || collective->reduce() != artifact::ReduceKind::Add) continue;
    if (collective->kind() != artifact::CollectiveKind::AllReduce &&
        collective->kind() != artifact::CollectiveKind::ReduceScatter)
      continue;
    for (const artifact::CollectiveOperand* operand : *collective->operands()) {
      if (operand->count() < 2) continue;
      gradients.push_back(part == GradientPart::kSummand ? Gradient{i, *operand->source()}
                                                         : Gradient{EndOf(program, i), *operand->target()});
    }
  }
  return gradients;
}

}  // namespace

GradientFlipper::GradientFlipper(Session& session, GradientPart part, uint64_t draw, uint64_t bit)
    : session_(session), part_(part), bit_(bit) {
  const std::vector<Gradient> gradients = GradientsOf(session.executor().prepared().source(), part);
  if (gradients.empty()) return;
  const Gradient& gradient = gradients[draw % gradients.size()];
  instruction_ = gradient.instruction;
  gradient_ = gradient.slice;
}

void GradientFlipper::Before(uint64_t instruction) {
  if (part_ == GradientPart::kSummand) Flip(instruction);
}

void GradientFlipper::After(uint64_t instruction) {
  if (part_ == GradientPart::kSum) Flip(instruction);
}

void GradientFlipper::Flip(uint64_t instruction) {
  if (!gradient_ || instruction != instruction_) return;
  const uint64_t bit = bit_ % (8 * gradient_->size());
  session_.executor().prepared().memory().Address(*gradient_)[bit / 8] ^= std::byte{1} << (bit % 8);
  gradient_.reset();
}

}  // namespace sgd::train
