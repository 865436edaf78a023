// Matmul of any Device against a plain triple loop: layouts, batches, epilogues, element types, and
// the same bits for any threads.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "tests/runtime/device/conformance.h"
#include "tests/runtime/library/sum_epilogues.h"

namespace sgd::testing {
namespace {

using artifact::ElementType;
using artifact::Slice;
using artifact::Space;
using library::Epilogue;
using library::EpilogueStep;

// Those of every device; an operand's sums are a GPU's.

// How a matrix of each operand lies in memory.
enum class Layout { kRows, kColumns, kSparse };

struct Problem {
  uint64_t m = 1, n = 1, k = 1;
  std::vector<uint64_t> batch;
  bool shared_b = false;  // B is the same for all of the batch
  Layout a = Layout::kRows, b = Layout::kRows, c = Layout::kRows;
  Epilogue epilogue = testing::kNoEpilogue;
};

struct Strides {
  int64_t rows, columns;
  std::vector<int64_t> batch;
  uint64_t elements;  // storage of the operand
};

Strides StridesOf(Layout layout, uint64_t rows, uint64_t columns, const std::vector<uint64_t>& batch, bool shared) {
  Strides strides;
  const int64_t r = static_cast<int64_t>(rows), c = static_cast<int64_t>(columns);
  switch (layout) {
    case Layout::kRows:
      strides = {c, 1, {}, rows * columns};
      break;
    case Layout::kColumns:
      strides = {1, r, {}, rows * columns};
      break;
    case Layout::kSparse:  // every third column, rows padded by two
      strides = {3 * c + 2, 3, {}, rows * (3 * columns + 2)};
      break;
  }
  strides.batch.resize(batch.size());
  for (size_t i = batch.size(); i-- > 0;) {
    strides.batch[i] = shared ? 0 : static_cast<int64_t>(strides.elements);
    if (!shared) strides.elements *= batch[i];
  }
  return strides;
}

// The instruction over an arena that holds A, B, C and the bias one after the other.
struct Instruction {
  artifact::MatmulT matmul;
  Strides a, b, c;
  uint64_t a_offset, b_offset, c_offset, bias_offset, bytes;
};

Instruction InstructionOf(const Problem& p, ElementType element) {
  Instruction i;
  i.a = StridesOf(p.a, p.m, p.k, p.batch, false);
  i.b = StridesOf(p.b, p.k, p.n, p.batch, p.shared_b);
  i.c = StridesOf(p.c, p.m, p.n, p.batch, false);
  const uint64_t size = artifact::ElementSize(element);
  const auto align = [](uint64_t value) { return (value + 63) / 64 * 64; };
  i.a_offset = 0;
  i.b_offset = align(i.a.elements * size);
  i.c_offset = i.b_offset + align(i.b.elements * size);
  i.bias_offset = i.c_offset + align(i.c.elements * size);
  i.bytes = i.bias_offset + align(p.n * size);
  artifact::MatmulT& m = i.matmul;
  m.element = element;
  m.batch_dims = p.batch;
  m.m = p.m, m.n = p.n, m.k = p.k;
  m.a = std::make_unique<Slice>(Space::Private, i.a_offset, i.a.elements * size);
  m.a_batch = i.a.batch, m.a_m = i.a.rows, m.a_k = i.a.columns;
  m.b = std::make_unique<Slice>(Space::Private, i.b_offset, i.b.elements * size);
  m.b_batch = i.b.batch, m.b_k = i.b.rows, m.b_n = i.b.columns;
  m.c = std::make_unique<Slice>(Space::Private, i.c_offset, i.c.elements * size);
  m.c_batch = i.c.batch, m.c_m = i.c.rows, m.c_n = i.c.columns;
  m.epilogue = artifact::StepsOf(p.epilogue);
  if (p.epilogue.Has(EpilogueStep::kBias)) {
    m.bias = std::make_unique<Slice>(Space::Private, i.bias_offset, p.n * size);
  }
  return i;
}

template <typename T>
struct Operands {
  std::vector<T> a, b, c, bias;
};

template <typename T>
Operands<T> RandomOperands(const Instruction& i, uint64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  const auto fill = [&](size_t count) {
    std::vector<T> values(count);
    for (T& value : values) {
      const int integer = static_cast<int>(random() % 17) - 8;
      value =
          std::is_integral_v<T> ? static_cast<T>(integer) : static_cast<T>(static_cast<float>(integer) / 8.0f + 0.01f);
    }
    return values;
  };
  return {fill(i.a.elements), fill(i.b.elements), fill(i.c.elements), fill(n)};
}

// C as the schema defines it, sums in `Sum`; other elements of C's storage stay.
template <typename T, typename Sum>
std::vector<T> Expected(const Problem& p, const Instruction& i, const Operands<T>& values) {
  std::vector<T> result = values.c;
  const uint64_t batches = std::accumulate(p.batch.begin(), p.batch.end(), uint64_t{1}, std::multiplies<>());
  for (uint64_t index = 0; index < batches; ++index) {
    int64_t a = 0, b = 0, c = 0;
    uint64_t rest = index;
    for (size_t d = p.batch.size(); d-- > 0;) {
      const int64_t at = static_cast<int64_t>(rest % p.batch[d]);
      rest /= p.batch[d];
      a += at * i.a.batch[d], b += at * i.b.batch[d], c += at * i.c.batch[d];
    }
    for (int64_t row = 0; row < static_cast<int64_t>(p.m); ++row) {
      for (int64_t column = 0; column < static_cast<int64_t>(p.n); ++column) {
        Sum sum{0};
        for (int64_t k = 0; k < static_cast<int64_t>(p.k); ++k) {
          sum = static_cast<Sum>(
              sum + static_cast<Sum>(values.a[static_cast<size_t>(a + row * i.a.rows + k * i.a.columns)]) *
                        static_cast<Sum>(values.b[static_cast<size_t>(b + k * i.b.rows + column * i.b.columns)]));
        }
        T& target = result[static_cast<size_t>(c + row * i.c.rows + column * i.c.columns)];
        if (p.epilogue.Has(EpilogueStep::kResidual)) sum = static_cast<Sum>(sum + static_cast<Sum>(target));
        if (i.matmul.bias != nullptr)
          sum = static_cast<Sum>(sum + static_cast<Sum>(values.bias[static_cast<size_t>(column)]));
        if (p.epilogue.Has(EpilogueStep::kRelu) && static_cast<T>(sum) < T{0}) sum = Sum{0};
        target = static_cast<T>(sum);
      }
    }
  }
  return result;
}

template <typename T>
std::vector<T> Compute(device::Device& device, const Instruction& i, const Operands<T>& values) {
  TestArena arena(device, i.bytes);
  arena.Put(i.a_offset, values.a);
  arena.Put(i.b_offset, values.b);
  arena.Put(i.c_offset, values.c);
  if (i.matmul.bias != nullptr) arena.Put(i.bias_offset, values.bias);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Matmul::Pack(builder, &i.matmul));
  device::PreparedThunk thunk =
      device.PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()), arena.map());
  EXPECT_TRUE(thunk.ok()) << thunk.status();
  if (!thunk.ok()) return {};
  builder.Clear();  // thunks keep no reference to the instruction
  EXPECT_TRUE((*thunk)->Execute().ok());
  EXPECT_TRUE(device.Synchronize().ok());
  return arena.Get<T>(i.c_offset, values.c.size());
}

std::string Describe(const Problem& p) {
  return std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k) + " batch " +
         std::to_string(p.batch.size()) + " layouts " + std::to_string(static_cast<int>(p.a)) +
         std::to_string(static_cast<int>(p.b)) + std::to_string(static_cast<int>(p.c)) + " epilogue " +
         library::TextOf(p.epilogue);
}

template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// f32 against sums in double: operands are at most about 1, so k bounds what a sum can lose.
void CheckFloat(device::Device& device, const Problem& p) {
  const Instruction i = InstructionOf(p, ElementType::F32);
  const Operands<float> values = RandomOperands<float>(i, p.n, 7);
  const std::vector<float> actual = Compute(device, i, values);
  const std::vector<float> expected = Expected<float, double>(p, i, values);
  ASSERT_EQ(actual.size(), expected.size()) << Describe(p);
  const float bound = 1e-6f * static_cast<float>(p.k + 4);
  for (size_t at = 0; at < actual.size(); ++at) {
    ASSERT_NEAR(actual[at], expected[at], bound) << Describe(p) << " element " << at;
  }
}

constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kSparse};

TEST_P(DeviceConformance, MatmulOfEveryLayoutAndEpilogue) {
  auto device = MakeDevice(2);
  const uint64_t sizes[][3] = {{1, 1, 1}, {1, 9, 5}, {9, 1, 5}, {7, 5, 1}, {3, 5, 7}, {33, 65, 17}, {64, 64, 64}};
  for (const auto& size : sizes) {
    for (Layout a : kLayouts) {
      for (Layout b : kLayouts) {
        for (Layout c : kLayouts) {
          for (Epilogue epilogue : testing::kSumEpilogues) {
            CheckFloat(*device, {size[0], size[1], size[2], {}, false, a, b, c, epilogue});
          }
        }
      }
    }
  }
}

TEST_P(DeviceConformance, MatmulOfBatches) {
  auto device = MakeDevice(3);
  for (const std::vector<uint64_t>& batch : {std::vector<uint64_t>{1}, {3}, {2, 3}, {2, 1, 2, 2}, {2, 0}}) {
    for (bool shared : {false, true}) {
      for (Epilogue epilogue : testing::kSumEpilogues) {
        CheckFloat(*device, {5, 9, 4, batch, shared, Layout::kRows, Layout::kColumns, Layout::kRows, epilogue});
      }
    }
  }
}

TEST_P(DeviceConformance, MatmulOfEmptySizes) {
  auto device = MakeDevice(2);
  for (Epilogue epilogue : testing::kSumEpilogues) {
    CheckFloat(*device, {5, 9, 0, {}, false, Layout::kRows, Layout::kRows, Layout::kRows, epilogue});
    CheckFloat(*device, {5, 9, 0, {}, false, Layout::kRows, Layout::kRows, Layout::kColumns, epilogue});
    CheckFloat(*device, {0, 9, 4, {}, false, Layout::kRows, Layout::kRows, Layout::kRows, epilogue});
    CheckFloat(*device, {5, 0, 4, {}, false, Layout::kRows, Layout::kRows, Layout::kRows, epilogue});
  }
}

TEST_P(DeviceConformance, MatmulBitsDoNotDependOnThreads) {
  const Problem problems[] = {
      {300, 520, 200, {}, false, Layout::kRows, Layout::kRows, Layout::kRows, testing::kBiasRelu},
      {520, 300, 200, {}, false, Layout::kColumns, Layout::kRows, Layout::kRows, testing::kResidual},
      {300, 260, 200, {}, false, Layout::kRows, Layout::kColumns, Layout::kColumns, testing::kBias},
      {100, 70, 30, {}, false, Layout::kSparse, Layout::kSparse, Layout::kSparse, testing::kNoEpilogue},
      {65, 33, 70, {7}, true, Layout::kRows, Layout::kRows, Layout::kRows, testing::kNoEpilogue},
      {1, 2000, 3000, {}, false, Layout::kRows, Layout::kRows, Layout::kRows, testing::kNoEpilogue},
  };
  for (const Problem& p : problems) {
    const Instruction i = InstructionOf(p, ElementType::F32);
    const Operands<float> values = RandomOperands<float>(i, p.n, 11);
    const std::vector<float> one = Compute(*MakeDevice(1), i, values);
    for (uint32_t threads : {1u, 2u, 3u, 5u}) {
      EXPECT_TRUE(SameBits(Compute(*MakeDevice(threads), i, values), one)) << Describe(p) << " threads " << threads;
    }
  }
}

TEST_P(DeviceConformance, MatmulReluKeepsNaN) {
  auto device = MakeDevice(1);
  const Problem p{2, 20, 4, {}, false, Layout::kRows, Layout::kRows, Layout::kRows, testing::kBiasRelu};
  const Instruction i = InstructionOf(p, ElementType::F32);
  Operands<float> values = RandomOperands<float>(i, p.n, 3);
  values.a[0] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> result = Compute(*device, i, values);
  for (size_t at = 0; at < 20; ++at) EXPECT_TRUE(std::isnan(result[at]));
  for (size_t at = 20; at < 40; ++at) EXPECT_GE(result[at], 0.0f);
}

template <typename T>
void CheckExact(device::Device& device, ElementType element) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  for (Layout b : kLayouts) {
    for (Epilogue epilogue : testing::kSumEpilogues) {
      const Problem p{35, 40, 70, {2}, false, Layout::kRows, b, Layout::kRows, epilogue};
      const Instruction i = InstructionOf(p, element);
      const Operands<T> values = RandomOperands<T>(i, p.n, 5);
      const std::vector<T> expected = Expected<T, Sum>(p, i, values);
      if constexpr (std::is_integral_v<T>) {
        EXPECT_EQ(Compute(device, i, values), expected) << Describe(p) << artifact::ElementName(element);
      } else {
        const std::vector<T> actual = Compute(device, i, values);
        for (size_t at = 0; at < actual.size(); ++at) ASSERT_NEAR(actual[at], expected[at], 1e-13 * 80) << Describe(p);
      }
    }
  }
}

TEST_P(DeviceConformance, MatmulOfIntegersAndDoubles) {
  auto device = MakeDevice(2);
  CheckExact<int8_t>(*device, ElementType::I8);
  CheckExact<int16_t>(*device, ElementType::I16);
  CheckExact<int32_t>(*device, ElementType::I32);
  CheckExact<int64_t>(*device, ElementType::I64);
  CheckExact<uint8_t>(*device, ElementType::U8);
  CheckExact<uint16_t>(*device, ElementType::U16);
  CheckExact<uint32_t>(*device, ElementType::U32);
  CheckExact<uint64_t>(*device, ElementType::U64);
  CheckExact<double>(*device, ElementType::F64);
}

// C and bias of the accumulator type: small multiples of 1/8 are exact in all types, so results are equal.
template <typename T, typename Sum>
void CheckAccumulators(device::Device& device, const Problem& p, ElementType element, T (*convert)(float)) {
  Instruction i = InstructionOf(p, element);
  // Room for the wider elements.
  const uint64_t c_offset = i.bytes, bias_offset = c_offset + (i.c.elements * sizeof(Sum) + 63) / 64 * 64;
  i.matmul.c_element = artifact::AccumulatorElement(element);
  i.matmul.c = std::make_unique<Slice>(Space::Private, c_offset, i.c.elements * sizeof(Sum));
  if (i.matmul.bias != nullptr) i.matmul.bias = std::make_unique<Slice>(Space::Private, bias_offset, p.n * sizeof(Sum));
  std::mt19937 random(9);
  Operands<Sum> values;
  const auto fill = [&](std::vector<Sum>& target, size_t count) {
    for (size_t at = 0; at < count; ++at) target.push_back(static_cast<Sum>(static_cast<int>(random() % 17) - 8));
  };
  fill(values.a, i.a.elements), fill(values.b, i.b.elements), fill(values.c, i.c.elements), fill(values.bias, p.n);
  const auto narrow = [&](const std::vector<Sum>& wide) {
    std::vector<T> result;
    for (Sum value : wide) result.push_back(convert(static_cast<float>(value)));
    return result;
  };
  TestArena arena(device, bias_offset + p.n * sizeof(Sum));
  arena.Put(i.a_offset, narrow(values.a)), arena.Put(i.b_offset, narrow(values.b));
  arena.Put(c_offset, values.c), arena.Put(bias_offset, values.bias);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Matmul::Pack(builder, &i.matmul));
  auto thunk = device.PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()), arena.map());
  ASSERT_TRUE(thunk.ok()) << thunk.status();
  ASSERT_TRUE((*thunk)->Execute().ok());
  ASSERT_TRUE(device.Synchronize().ok());
  EXPECT_EQ(arena.Get<Sum>(c_offset, values.c.size()), (Expected<Sum, Sum>(p, i, values)))
      << Describe(p) << artifact::ElementName(element);
}

TEST_P(DeviceConformance, MatmulWritesAccumulators) {
  auto device = MakeDevice(2);
  const auto bf16 = [](float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); };
  const auto f16 = [](float value) { return static_cast<_Float16>(value); };
  const auto i8 = [](float value) { return static_cast<int8_t>(value); };
  for (const auto& size : {std::array<uint64_t, 3>{1, 9, 5}, {33, 65, 17}, {300, 270, 40}}) {
    for (Layout b : kLayouts) {
      for (Layout c : kLayouts) {
        for (Epilogue epilogue : testing::kSumEpilogues) {
          const Problem p{size[0], size[1], size[2], {2}, false, Layout::kRows, b, c, epilogue};
          CheckAccumulators<uint16_t, float>(*device, p, ElementType::BF16, bf16);
          CheckAccumulators<_Float16, float>(*device, p, ElementType::F16, f16);
          CheckAccumulators<int8_t, int32_t>(*device, p, ElementType::I8, i8);
        }
      }
    }
  }
}

// Sixteen-bit floats as their bits; each value below is exact in both formats, and so is each sum
// of products but the last.
TEST_P(DeviceConformance, MatmulOfHalvesSumsInSingle) {
  auto device = MakeDevice(1);
  const Problem p{1, 1, 257, {}, false, Layout::kRows, Layout::kRows, Layout::kRows, testing::kNoEpilogue};
  const struct {
    ElementType element;
    uint16_t one, sum;
  } formats[] = {{ElementType::BF16, 0x3f80, 0x4380}, {ElementType::F16, 0x3c00, 0x5c04}};
  for (const auto& format : formats) {
    // 257 ones: bf16 sums would stick at 256; rounded once, 257 is 256 in bf16 (ties to even) and
    // exact in f16.
    const Instruction i = InstructionOf(p, format.element);
    Operands<uint16_t> values;
    values.a.assign(257, format.one);
    values.b.assign(257, format.one);
    values.c.assign(1, 0);
    EXPECT_EQ(Compute(*device, i, values), std::vector<uint16_t>{format.sum}) << artifact::ElementName(format.element);
  }
}

TEST_P(DeviceConformance, MatmulOfBooleansIsRefused) {
  auto device = MakeDevice(1);
  TestArena arena(*device, 256);
  const Instruction i = InstructionOf({}, ElementType::Bool);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Matmul::Pack(builder, &i.matmul));
  const absl::Status status =
      device->PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()), arena.map()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace sgd::testing
