// Element types and reductions of collectives. Depends on nothing; values equal those of
// program.fbs, so a verified enum can be cast.
#pragma once

#include <cstdint>

namespace sgd::comm {

enum class ElementType : uint8_t {
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kF8E4M3FN,
  kF8E5M2
};

enum class ReduceKind : uint8_t { kAdd, kMul, kMax, kMin, kAnd, kOr };

// Bytes of one element; a bool is one byte, 0 or 1.
constexpr uint32_t ElementSize(ElementType element) {
  constexpr uint8_t kSizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1};
  return kSizes[static_cast<uint8_t>(element)];
}

// Floats of 8 bits are moved between ranks, never combined: they are reduced in a wider type.
constexpr bool IsFloat8(ElementType element) { return element >= ElementType::kF8E4M3FN; }

}  // namespace sgd::comm
