// Counter-based random floats, converted to each floating-point type by truncation.
#include "runtime/data/random_values.h"

#include <bit>
#include <cstring>

#include "runtime/data/shuffle.h"

namespace sgd::data {
namespace {

float UniformValue(uint64_t key, uint64_t position) {
  const float unit = static_cast<float>(Mix(key ^ position) >> 40) * 0x1p-24f;  // [0, 1)
  return 0.01f + unit * 0.09f;
}

// For normal f16 values in range, without rounding: moves the exponent's bias from 127 to 15.
uint16_t TruncateToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits >> 13) - ((127 - 15) << 10));
}

// For normal f16 values: cut to 3 bits of mantissa, the exponent's bias from 15 to 7.
uint8_t TruncateToE4M3FN(float value) {
  const uint32_t half = TruncateToF16(value);
  const uint32_t least = (15 - 6) << 10;  // 2^-6, the smallest normal value; below it steps of 2^-9
  if (half < least) return static_cast<uint8_t>(value * 0x1p9f);
  return static_cast<uint8_t>((half >> 7) - ((15 - 7) << 3));
}

void Store(ElementType element, float value, std::byte* at) {
  switch (element) {
    case ElementType::F32:
      std::memcpy(at, &value, sizeof(value));
      return;
    case ElementType::F64: {
      const double wide = value;
      std::memcpy(at, &wide, sizeof(wide));
      return;
    }
    case ElementType::BF16: {
      const uint16_t half = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
      std::memcpy(at, &half, sizeof(half));
      return;
    }
    case ElementType::F16: {
      const uint16_t half = TruncateToF16(value);
      std::memcpy(at, &half, sizeof(half));
      return;
    }
    case ElementType::F8E4M3FN:
      *at = std::byte{TruncateToE4M3FN(value)};
      return;
    case ElementType::F8E5M2:
      *at = std::byte{static_cast<uint8_t>(TruncateToF16(value) >> 8)};
      return;
    default:
      return;
  }
}

}  // namespace

void FillRandom(const Shard& shard, uint64_t seed, uint64_t argument, std::span<std::byte> local) {
  std::memset(local.data(), 0, shard.local_bytes());
  const ElementType element = shard.type().element;
  if (!artifact::IsFloat(element)) return;
  const uint64_t size = artifact::ElementSize(element);
  const uint64_t key = Mix(Mix(seed) + argument);
  shard.ForEachRun([&](uint64_t global, uint64_t offset, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += size) {
      Store(element, UniformValue(key, (global + i) / size), local.data() + offset + i);
    }
  });
}

}  // namespace sgd::data
