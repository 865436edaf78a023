// Bits without their sign order floats by magnitude; neighbours differ in the lowest bit.
#include "runtime/guard/rounding_noise.h"

#include "runtime/artifact/element_type.h"
#include "runtime/guard/observed_operands.h"

namespace sgd::guard {
namespace {

using artifact::ElementType;
using artifact::Operand;

// Of splitmix64.
uint64_t Mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

template <typename Bits>
void Move(uint64_t seed, Bits magnitude, Bits infinity, std::span<std::byte> values) {
  Bits* bits = reinterpret_cast<Bits*>(values.data());
  const uint64_t draw = Mixed(seed);
  for (size_t i = 0; i < values.size() / sizeof(Bits); ++i) {
    const Bits value = static_cast<Bits>(bits[i] & magnitude);
    if (value < 2 || value >= infinity) continue;
    const Bits lower = static_cast<Bits>(bits[i] & ~Bits{1});
    bits[i] = static_cast<Bits>(lower | (Mixed(draw ^ (lower & magnitude)) & 1));
  }
}

}  // namespace

void MoveToNeighbours(ElementType element, uint64_t seed, std::span<std::byte> values) {
  switch (element) {
    case ElementType::F32:
    case ElementType::C64:
      return Move<uint32_t>(seed, 0x7fffffff, 0x7f800000, values);
    case ElementType::F64:
      return Move<uint64_t>(seed, 0x7fffffffffffffff, 0x7ff0000000000000, values);
    case ElementType::BF16:
      return Move<uint16_t>(seed, 0x7fff, 0x7f80, values);
    case ElementType::F16:
      return Move<uint16_t>(seed, 0x7fff, 0x7c00, values);
    case ElementType::F8E5M2:
      return Move<uint8_t>(seed, 0x7f, 0x7c, values);
    // The largest number is the neighbour of what is not a number.
    case ElementType::F8E4M3FN:
      return Move<uint8_t>(seed, 0x7f, 0x7e, values);
    default:
      return;
  }
}

void RoundingNoise::MoveInputs() const {
  for (size_t i = 0; i < executor_.inputs().size(); ++i)
    MoveToNeighbours(executor_.inputs()[i].shard.type().element, seed_, executor_.InputBytes(i));
}

void RoundingNoise::After(uint64_t index) {
  const artifact::Instruction* instruction = &executor_.prepared().source(index);
  if (StartsCollective(*instruction)) return;
  if (const auto* done = instruction->op_as_Done()) instruction = &executor_.prepared().source(done->start());
  ForEachOperand(*instruction, root_.kernels(), [&](const Operand& operand) {
    if (!operand.is_written() || !HasFloats(operand)) return;
    MoveToNeighbours(*operand.element, seed_,
                     {executor_.prepared().memory().Address(*operand.slice), operand.slice->size()});
  });
}

}  // namespace sgd::guard
