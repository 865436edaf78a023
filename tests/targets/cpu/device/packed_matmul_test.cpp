// Products of every element type, odd size, layout and epilogue against plain loops, and the same bits by every
// instruction set that this CPU has.
#include "targets/cpu/device/matmul/packed_matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "runtime/artifact/element_type.h"
#include "tests/runtime/library/sum_epilogues.h"

namespace sgd::cpu {
namespace {

using artifact::ElementType;
using library::Epilogue;
using library::EpilogueStep;

// Those of every device; an operand's sums are a GPU's.

std::vector<InstructionSet> InstructionSets() {
  std::vector<InstructionSet> sets;
  for (InstructionSet set : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (set <= BestInstructionSet()) sets.push_back(set);
  }
  return sets;
}

enum class Layout { kRows, kColumns, kSparse };
constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kSparse};

// A matrix of `T` in storage that holds exactly what its strides reach.
template <typename T>
struct Matrix {
  Matrix(Layout layout, uint64_t rows, uint64_t columns) {
    const int64_t r = static_cast<int64_t>(rows), c = static_cast<int64_t>(columns);
    row_stride = layout == Layout::kRows ? c : layout == Layout::kColumns ? 1 : 3 * c + 2;
    column_stride = layout == Layout::kRows ? 1 : layout == Layout::kColumns ? r : 3;
    values.reserve(1);  // an address even without elements
    if (rows > 0 && columns > 0) {
      values.resize(static_cast<size_t>((r - 1) * row_stride + (c - 1) * column_stride + 1));
    }
  }
  size_t At(uint64_t row, uint64_t column) const {
    return static_cast<size_t>(static_cast<int64_t>(row) * row_stride + static_cast<int64_t>(column) * column_stride);
  }
  std::vector<T> values;
  int64_t row_stride, column_stride;
};

struct BFloat16 {
  uint16_t bits = 0;
};

template <typename T>
double ToDouble(T value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const uint32_t bits = uint32_t{value.bits} << 16;
    float result;
    std::memcpy(&result, &bits, sizeof(bits));
    return result;
  } else {
    return static_cast<double>(value);
  }
}

// Small numbers, exact in every type; so are their products, and sums of a few thousand of them except in f16 and bf16.
template <typename T>
void Fill(std::vector<T>& values, std::mt19937& random) {
  for (T& value : values) {
    const int integer = static_cast<int>(random() % 9) - 4;
    if constexpr (std::is_same_v<T, BFloat16>) {
      const float number = static_cast<float>(integer);
      uint32_t bits;
      std::memcpy(&bits, &number, sizeof(bits));
      value.bits = static_cast<uint16_t>(bits >> 16);
    } else {
      value = static_cast<T>(integer);
    }
  }
}

struct Case {
  uint64_t m, n, k;
  Layout a, b, c;
  Epilogue epilogue;
  bool bias_per_row;
};

std::ostream& operator<<(std::ostream& out, const Case& x) {
  return out << x.m << "x" << x.n << "x" << x.k << " layouts " << int(x.a) << int(x.b) << int(x.c) << " "
             << library::TextOf(x.epilogue) << (x.bias_per_row ? " per row" : "");
}

template <typename T>
struct Operands {
  Operands(const Case& x, uint32_t seed)
      : a(x.a, x.m, x.k), b(x.b, x.k, x.n), c(x.c, x.m, x.n), bias(x.bias_per_row ? x.m : x.n) {
    std::mt19937 random(seed);
    Fill(a.values, random), Fill(b.values, random), Fill(c.values, random), Fill(bias, random);
  }
  Matrix<T> a, b, c;
  std::vector<T> bias;
};

template <typename T>
std::vector<T> Multiply(InstructionSet set, ElementType element, const Case& x, const Operands<T>& operands) {
  std::vector<T> c = operands.c.values;
  StridedMatmul product;
  product.element = element;
  product.epilogue = x.epilogue;
  product.m = x.m, product.n = x.n, product.k = x.k;
  product.a = reinterpret_cast<const std::byte*>(operands.a.values.data());
  product.a_m = operands.a.row_stride, product.a_k = operands.a.column_stride;
  product.b = reinterpret_cast<const std::byte*>(operands.b.values.data());
  product.b_k = operands.b.row_stride, product.b_n = operands.b.column_stride;
  product.c = reinterpret_cast<std::byte*>(c.data());
  product.c_m = operands.c.row_stride, product.c_n = operands.c.column_stride;
  product.bias = reinterpret_cast<const std::byte*>(operands.bias.data());
  product.bias_per_row = x.bias_per_row;
  const PackedKernels& kernels = *PackedKernelsFor(set, element);
  const uint64_t bytes = PackedScratchBytes(kernels, x.m, x.n, x.k);
  // Filled, so that nothing counts on zeros; exact, for the sanitizers.
  std::byte* scratch = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
  std::memset(scratch, 0xff, bytes);
  PackedMultiply(kernels, product, scratch);
  std::free(scratch);
  return c;
}

// Applies the epilogue to a sum; all numbers are integers.
double Expected(const Case& x, double sum, double old, double bias) {
  if (x.epilogue.Has(EpilogueStep::kResidual)) sum += old;
  if (x.epilogue.Has(EpilogueStep::kBias)) sum += bias;
  return x.epilogue.Has(EpilogueStep::kRelu) ? std::max(sum, 0.0) : sum;
}

// `modulus`: integers wrap around at it, 0: not. `relative`: error of rounding.
template <typename T>
void Check(ElementType element, const Case& x, double modulus, double relative) {
  const Operands<T> operands(x, 7);
  const std::vector<T> first = Multiply(InstructionSet::kBaseline, element, x, operands);
  std::vector<bool> written(first.size());
  for (uint64_t i = 0; i < x.m; ++i) {
    for (uint64_t j = 0; j < x.n; ++j) {
      double sum = 0;
      for (uint64_t k = 0; k < x.k; ++k) {
        sum += ToDouble(operands.a.values[operands.a.At(i, k)]) * ToDouble(operands.b.values[operands.b.At(k, j)]);
      }
      const size_t at = operands.c.At(i, j);
      written[at] = true;
      const double expected =
          Expected(x, sum, ToDouble(operands.c.values[at]), ToDouble(operands.bias[x.bias_per_row ? i : j]));
      double difference = ToDouble(first[at]) - expected;
      if (modulus > 0) difference = std::remainder(difference, modulus);
      ASSERT_LE(std::abs(difference), relative * std::abs(expected)) << x << " at " << i << ", " << j;
    }
  }
  for (size_t at = 0; at < first.size(); ++at) {
    if (!written[at]) ASSERT_EQ(ToDouble(first[at]), ToDouble(operands.c.values[at])) << x << " touched " << at;
  }
  for (InstructionSet set : InstructionSets()) {
    const std::vector<T> again = Multiply(set, element, x, operands);
    ASSERT_TRUE(first.empty() || std::memcmp(first.data(), again.data(), first.size() * sizeof(T)) == 0)
        << x << " instruction set " << int(set);
  }
}

void CheckElement(ElementType element, const Case& x) {
  switch (element) {
    case ElementType::Bool:
    case ElementType::F8E4M3FN:
    case ElementType::F8E5M2:
    case ElementType::C64:
      return;
    case ElementType::I8:
      return x.epilogue.Has(EpilogueStep::kRelu) && x.k > 5 ? void() : Check<int8_t>(element, x, 256, 0);
    case ElementType::I16:
      return Check<int16_t>(element, x, 0, 0);
    case ElementType::I32:
      return Check<int32_t>(element, x, 0, 0);
    case ElementType::I64:
      return Check<int64_t>(element, x, 0, 0);
    case ElementType::F16:
      return Check<_Float16>(element, x, 0, 0x1p-11);
    case ElementType::BF16:
      return Check<BFloat16>(element, x, 0, 0x1p-8);
    case ElementType::F32:
      return Check<float>(element, x, 0, 0);
    case ElementType::F64:
      return Check<double>(element, x, 0, 0);
    case ElementType::U8:
    case ElementType::U16:
    case ElementType::U32:
    case ElementType::U64:
      return;
  }
}

class PackedMultiplyTest : public ::testing::TestWithParam<ElementType> {};

TEST_P(PackedMultiplyTest, EveryLayoutAndEpilogue) {
  for (Layout a : kLayouts) {
    for (Layout b : kLayouts) {
      for (Layout c : kLayouts) {
        for (Epilogue epilogue : testing::kSumEpilogues) {
          for (bool per_row : {false, true}) CheckElement(GetParam(), {29, 45, 21, a, b, c, epilogue, per_row});
        }
      }
    }
  }
}

TEST_P(PackedMultiplyTest, OddSizes) {
  const uint64_t sizes[] = {0, 1, 2, 13, 14, 15, 16, 17, 31, 33, 47, 101};
  for (uint64_t m : sizes) {
    for (uint64_t n : sizes) {
      for (uint64_t k : {0, 1, 3, 16, 37}) {
        CheckElement(GetParam(), {m, n, k, kLayouts[(m + n) % 3], kLayouts[(n + k) % 2], Layout::kRows,
                                  testing::kSumEpilogues[(m + n + k) % std::size(testing::kSumEpilogues)], false});
      }
    }
  }
}

TEST_P(PackedMultiplyTest, MoreThanOneBlock) {
  for (Epilogue epilogue : testing::kSumEpilogues) {
    CheckElement(GetParam(), {23, 67, 530, Layout::kColumns, Layout::kRows, Layout::kRows, epilogue, true});
    CheckElement(GetParam(), {50, 150, 257, Layout::kRows, Layout::kRows, Layout::kRows, epilogue, false});
  }
  CheckElement(GetParam(), {700, 40, 260, Layout::kRows, Layout::kColumns, Layout::kRows, testing::kBias, true});
  CheckElement(GetParam(), {40, 1100, 260, Layout::kRows, Layout::kRows, Layout::kSparse, testing::kBiasRelu, false});
  CheckElement(GetParam(), {300, 270, 20, Layout::kRows, Layout::kColumns, Layout::kColumns, testing::kBias, true});
}

INSTANTIATE_TEST_SUITE_P(Elements, PackedMultiplyTest, ::testing::ValuesIn(artifact::EnumValuesElementType()),
                         [](const auto& info) { return artifact::EnumNameElementType(info.param); });

TEST(PackedMultiply, RoundsSumsAsEveryInstructionSetDoes) {
  const Case x{40, 70, 300, Layout::kRows, Layout::kColumns, Layout::kRows, testing::kNoEpilogue, false};
  Operands<float> operands(x, 3);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (float& value : operands.a.values) value = normal(random);
  for (float& value : operands.b.values) value = normal(random);
  const std::vector<float> first = Multiply(InstructionSet::kBaseline, ElementType::F32, x, operands);
  for (InstructionSet set : InstructionSets()) {
    const std::vector<float> again = Multiply(set, ElementType::F32, x, operands);
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)), 0) << int(set);
  }
}

TEST(PackedMultiply, KeepsNanAndInfinity) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  for (InstructionSet set : InstructionSets()) {
    for (Epilogue epilogue : testing::kSumEpilogues) {
      const Case x{17, 35, 20, Layout::kRows, Layout::kRows, Layout::kRows, epilogue, false};
      Operands<float> operands(x, 3);
      operands.a.values[operands.a.At(3, 4)] = kNan;
      operands.a.values[operands.a.At(16, 19)] = kInfinity;
      for (uint64_t j = 0; j < x.n; ++j) operands.b.values[operands.b.At(19, j)] = j % 2 == 0 ? 0.0f : 1.0f;
      const std::vector<float> c = Multiply(set, ElementType::F32, x, operands);
      for (uint64_t j = 0; j < x.n; ++j) {
        EXPECT_TRUE(std::isnan(c[operands.c.At(3, j)])) << x;
        EXPECT_TRUE(std::isfinite(c[operands.c.At(4, j)])) << x;
        const float last = c[operands.c.At(16, j)];
        EXPECT_TRUE(j % 2 == 0 ? std::isnan(last) : last == kInfinity) << x;
      }
    }
  }
}

TEST(PackedMultiply, ScratchGrowsWithEverySize) {
  const PackedKernels& kernels = *PackedKernelsFor(BestInstructionSet(), ElementType::F32);
  uint64_t last = 0;
  for (uint64_t size : {0, 1, 10, 100, 255, 256, 257, 300, 1000, 10000}) {
    const uint64_t bytes = PackedScratchBytes(kernels, size, size, size);
    EXPECT_GE(bytes, last);
    last = bytes;
  }
  EXPECT_LE(last, uint64_t{2} << 20);
}

}  // namespace
}  // namespace sgd::cpu
