// Counter-based random floats, converted to each floating-point type by truncation.
#include "runtime/data/random_values.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/data/shuffle.h"

namespace sgd::data {
namespace {

// Two statements, so that no processor rounds them as one.
inline float UniformValue(uint64_t key, uint64_t position) {
  const float unit = static_cast<float>(static_cast<int32_t>(Mix(key ^ position) >> 40)) * 0x1p-24f;  // [0, 1)
  const float scaled = unit * 0.09f;
  return 0.01f + scaled;
}

// Products of 64 bits dominate the time; x86-64-v4 has them for vectors.
#if defined(__x86_64__)
__attribute__((target_clones("arch=x86-64-v4", "default")))
#endif
void FillFloats(uint64_t key, uint64_t position, float* values, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) values[i] = UniformValue(key, position + i);
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

uint16_t TruncateToBF16(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

uint8_t TruncateToE5M2(float value) { return static_cast<uint8_t>(TruncateToF16(value) >> 8); }

template <class Stored, class Convert>
void Fill(uint64_t key, uint64_t position, std::span<std::byte> elements, Convert convert) {
  constexpr uint64_t kBlock = 256;
  float values[kBlock];
  const uint64_t count = elements.size() / sizeof(Stored);
  for (uint64_t begin = 0; begin < count; begin += kBlock) {
    const uint64_t block = std::min(kBlock, count - begin);
    FillFloats(key, position + begin, values, block);
    for (uint64_t i = 0; i < block; ++i) {
      const Stored stored = convert(values[i]);
      std::memcpy(elements.data() + (begin + i) * sizeof(Stored), &stored, sizeof(stored));
    }
  }
}

}  // namespace

void FillRandomRun(ElementType element, uint64_t seed, uint64_t argument, uint64_t position,
                   std::span<std::byte> elements) {
  const uint64_t key = Mix(Mix(seed) + argument);
  switch (element) {
    case ElementType::F32:
      return Fill<float>(key, position, elements, [](float value) { return value; });
    case ElementType::C64:  // parts are numbers of their own
      return Fill<float>(key, 2 * position, elements, [](float value) { return value; });
    case ElementType::F64:
      return Fill<double>(key, position, elements, [](float value) { return double{value}; });
    case ElementType::BF16:
      return Fill<uint16_t>(key, position, elements, TruncateToBF16);
    case ElementType::F16:
      return Fill<uint16_t>(key, position, elements, TruncateToF16);
    case ElementType::F8E4M3FN:
      return Fill<uint8_t>(key, position, elements, TruncateToE4M3FN);
    case ElementType::F8E5M2:
      return Fill<uint8_t>(key, position, elements, TruncateToE5M2);
    default:
      std::memset(elements.data(), 0, elements.size());
  }
}

void FillRandom(const Shard& shard, uint64_t seed, uint64_t argument, std::span<std::byte> local) {
  if (shard.has_padding()) std::memset(local.data(), 0, shard.local_bytes());
  const ElementType element = shard.type().element;
  shard.ForEachRun([&](uint64_t global, uint64_t offset, uint64_t bytes) {
    FillRandomRun(element, seed, argument, global / artifact::ElementSize(element), local.subspan(offset, bytes));
  });
}

}  // namespace sgd::data
