// Both builds of the kernels against one-line definitions, on random bits, special values and odd
// counts.
#include "runtime/comm/kernels/reduce_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "reference_collective.h"
#include "runtime/comm/collectives/collective_spec.h"

namespace sgd::comm {
namespace {

constexpr size_t kCount = 1037;

std::vector<std::byte> RandomBits(ElementType element, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(kCount * ElementSize(element));
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(element == ElementType::kBool ? random() & 1 : random());
  }
  return bytes;
}

// All pairs of special values at the beginning of a and b.
void PlaceSpecials(ElementType element, std::vector<std::byte>& a, std::vector<std::byte>& b) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {0.0, -0.0, 1.0, -1.0, infinity, -infinity, NAN};
  const uint32_t size = ElementSize(element);
  size_t i = 0;
  for (double x : specials) {
    for (double y : specials) {
      StoreElement(element, x, a.data() + i * size);
      StoreElement(element, y, b.data() + i * size);
      ++i;
    }
  }
}

bool IsFloat(ElementType element) { return element >= ElementType::kF16; }

// (a op b) op c, by the kernel of three leaves.
std::vector<std::byte> RunKernel(const ReduceKernel& kernel, ElementType element, const std::vector<std::byte>& a,
                                 const std::vector<std::byte>& b, const std::vector<std::byte>& c) {
  const std::byte* const sources[] = {a.data(), b.data(), c.data()};
  std::vector<std::byte> accumulators(kCount * kernel.accumulator_size);
  kernel.leaves[2](sources, accumulators.data(), kCount);
  if (kernel.finish == nullptr) return accumulators;
  std::vector<std::byte> result(kCount * ElementSize(element));
  kernel.finish(accumulators.data(), result.data(), kCount);
  return result;
}

// Random bits without the exponents of NaN and infinity: which of two NaNs an addition keeps is up to its code.
std::vector<std::byte> RandomFinite(ElementType element, uint32_t seed) {
  std::vector<std::byte> bytes = RandomBits(element, seed);
  const uint32_t size = ElementSize(element);
  for (size_t i = size - 1; IsFloat(element) && i < bytes.size(); i += size) bytes[i] &= std::byte{0xbf};
  return bytes;
}

// All forms of a kernel give the same bits.
void ExpectFormsAgree(const ReduceKernel& kernel, ElementType element) {
  const std::vector<std::byte> a = RandomFinite(element, 1), b = RandomFinite(element, 2), c = RandomFinite(element, 3);
  const std::vector<std::byte> result = RunKernel(kernel, element, a, b, c);
  const std::byte* const sources[] = {a.data(), b.data(), c.data(), a.data()};
  const size_t bytes = kCount * kernel.accumulator_size;
  std::vector<std::byte> left(bytes), right(bytes), three(bytes), four(bytes);
  kernel.leaves[1](sources, left.data(), kCount);
  kernel.leaves[0](sources + 2, right.data(), kCount);
  kernel.join(left.data(), right.data(), kCount);
  kernel.leaves[2](sources, three.data(), kCount);
  EXPECT_TRUE(left == three) << ElementName(element);
  kernel.leaves[1](sources, left.data(), kCount);
  kernel.leaves[1](sources + 2, right.data(), kCount);
  kernel.join(left.data(), right.data(), kCount);
  kernel.leaves[3](sources, four.data(), kCount);
  EXPECT_TRUE(left == four) << ElementName(element);
  for (const ReduceKernel::Direct direct : {kernel.direct[2], kernel.streamed[2]}) {
    if (direct == nullptr) continue;
    alignas(64) static std::byte target[kCount * 8];
    std::byte* const targets[] = {target};
    direct(sources, targets, 1, kCount);
    EXPECT_EQ(std::memcmp(target, result.data(), result.size()), 0) << ElementName(element);
  }
}

template <class T>
T Definition(ReduceKind reduce, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool nan = std::isnan(a) || std::isnan(b);
    switch (reduce) {
      case ReduceKind::kAdd:
        return a + b;
      case ReduceKind::kMul:
        return a * b;
      case ReduceKind::kMax:
        return nan ? NAN : a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
      default:
        return nan ? NAN : a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
    }
  } else {
    switch (reduce) {
      case ReduceKind::kAdd:
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      case ReduceKind::kMul:
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      case ReduceKind::kMax:
        return std::max(a, b);
      case ReduceKind::kMin:
        return std::min(a, b);
      case ReduceKind::kAnd:
        return a & b;
      default:
        return a | b;
    }
  }
}

template <class T>
void ExpectDefinition(ReduceKind reduce, const std::vector<std::byte>& actual, const std::vector<std::byte>& a,
                      const std::vector<std::byte>& b, const std::vector<std::byte>& c) {
  for (size_t i = 0; i < kCount; ++i) {
    T x, y, z, got;
    std::memcpy(&x, a.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&y, b.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&z, c.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&got, actual.data() + i * sizeof(T), sizeof(T));
    const T expected = Definition<T>(reduce, Definition<T>(reduce, x, y), z);
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << ReduceName(reduce) << " of " << x << ", " << y << ", " << z;
        continue;
      }
    }
    ASSERT_EQ(std::memcmp(&got, &expected, sizeof(T)), 0)
        << ReduceName(reduce) << " of " << +x << ", " << +y << ", " << +z << " is " << +got;
  }
}

// f32 definition, rounded once by the reference.
void ExpectHalfDefinition(ElementType element, ReduceKind reduce, const std::vector<std::byte>& actual,
                          const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                          const std::vector<std::byte>& c) {
  for (size_t i = 0; i < kCount; ++i) {
    const auto at = [&](const std::vector<std::byte>& bytes) {
      return static_cast<float>(LoadElement(element, bytes.data() + 2 * i));
    };
    const float wide = Definition<float>(reduce, Definition<float>(reduce, at(a), at(b)), at(c));
    std::byte expected[2];
    StoreElement(element, wide, expected);
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(at(actual)));
      continue;
    }
    ASSERT_EQ(std::memcmp(expected, actual.data() + 2 * i, 2), 0)
        << ElementName(element) << " " << ReduceName(reduce) << " of " << at(a) << ", " << at(b) << ", " << at(c)
        << " is " << at(actual);
  }
}

void Check(ElementType element, ReduceKind reduce, const ReduceKernel& kernel) {
  std::vector<std::byte> a = RandomBits(element, 1), b = RandomBits(element, 2);
  const std::vector<std::byte> c = RandomBits(element, 3);
  if (IsFloat(element)) PlaceSpecials(element, a, b);
  const std::vector<std::byte> actual = RunKernel(kernel, element, a, b, c);
  switch (element) {
    case ElementType::kBool:
    case ElementType::kU8:
      return ExpectDefinition<uint8_t>(reduce, actual, a, b, c);
    case ElementType::kI8:
      return ExpectDefinition<int8_t>(reduce, actual, a, b, c);
    case ElementType::kI16:
      return ExpectDefinition<int16_t>(reduce, actual, a, b, c);
    case ElementType::kI32:
      return ExpectDefinition<int32_t>(reduce, actual, a, b, c);
    case ElementType::kI64:
      return ExpectDefinition<int64_t>(reduce, actual, a, b, c);
    case ElementType::kU16:
      return ExpectDefinition<uint16_t>(reduce, actual, a, b, c);
    case ElementType::kU32:
      return ExpectDefinition<uint32_t>(reduce, actual, a, b, c);
    case ElementType::kU64:
      return ExpectDefinition<uint64_t>(reduce, actual, a, b, c);
    case ElementType::kF32:
      return ExpectDefinition<float>(reduce, actual, a, b, c);
    case ElementType::kF64:
      return ExpectDefinition<double>(reduce, actual, a, b, c);
    default:
      return ExpectHalfDefinition(element, reduce, actual, a, b, c);
  }
}

void CheckAll(const ReduceKernel* (*find)(ElementType, ReduceKind)) {
  for (int e = 0; e < 15; ++e) {
    for (int r = 0; r < 6; ++r) {
      const ElementType element = static_cast<ElementType>(e);
      const ReduceKind reduce = static_cast<ReduceKind>(r);
      const bool logical = reduce == ReduceKind::kAnd || reduce == ReduceKind::kOr;
      const bool arithmetic = reduce == ReduceKind::kAdd || reduce == ReduceKind::kMul;
      const bool defined =
          !IsFloat8(element) && !(logical && IsFloat(element)) && !(arithmetic && element == ElementType::kBool);
      const ReduceKernel* kernel = find(element, reduce);
      ASSERT_EQ(kernel != nullptr, defined) << ElementName(element) << " " << ReduceName(reduce);
      if (!defined) continue;
      Check(element, reduce, *kernel);
      ExpectFormsAgree(*kernel, element);
    }
  }
}

TEST(ReduceKernels, BaselineFollowsTheDefinitions) { CheckAll(FindBaselineReduceKernel); }

TEST(ReduceKernels, Avx2FollowsTheDefinitions) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("f16c")) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  CheckAll(FindAvx2ReduceKernel);
}

TEST(ReduceKernels, HalfSumsAreRoundedOnce) {
  // 1 + 2^-8 + 2^-8 in bf16: rounding after each step would drop both summands.
  const ReduceKernel* kernel = FindReduceKernel(ElementType::kBF16, ReduceKind::kAdd);
  std::byte one[2], small[2], result[2];
  StoreElement(ElementType::kBF16, 1.0, one);
  StoreElement(ElementType::kBF16, 0.00390625, small);
  const std::byte* const sources[] = {one, small, small};
  float accumulator = 0;
  kernel->leaves[2](sources, &accumulator, 1);
  kernel->finish(&accumulator, result, 1);
  EXPECT_EQ(LoadElement(ElementType::kBF16, result), 1.0078125);
}

}  // namespace
}  // namespace sgd::comm
