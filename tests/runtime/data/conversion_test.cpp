// Every pair of types, over the values at which they differ.
#include "runtime/data/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace sgd::data {
namespace {

using enum artifact::ElementType;

constexpr ElementType kNumbers[] = {I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64};

template <typename T>
std::vector<std::byte> BytesOf(std::vector<T> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// The extremes of a type, and numbers with many bits.
std::vector<std::byte> Samples(ElementType type) {
  const auto integers = [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    return BytesOf<T>({0, 1, 100, Limits::min(), Limits::max(), static_cast<T>(Limits::max() - 1),
                       static_cast<T>(Limits::min() + 1)});
  };
  switch (type) {
    case I8:
      return integers(int8_t{});
    case I16:
      return integers(int16_t{});
    case I32:
      return integers(int32_t{});
    case I64:
      return integers(int64_t{});
    case U8:
      return integers(uint8_t{});
    case U16:
      return integers(uint16_t{});
    case U32:
      return integers(uint32_t{});
    case U64:
      return integers(uint64_t{});
    case F16:  // 1, the greatest, the least, infinity
      return BytesOf<uint16_t>({0x3c00, 0x7bff, 0x0001, 0x7c00, 0xbc01});
    case BF16:
      return BytesOf<uint16_t>({0x3f80, 0x7f7f, 0x0001, 0x7f80, 0xbf81});
    case F32:
      return BytesOf<float>({1, 0.1F, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(),
                             std::numeric_limits<float>::infinity(), std::nanf("")});
    default:
      return BytesOf<double>({1, 0.1, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(),
                              std::numeric_limits<double>::infinity(), std::nan("")});
  }
}

std::string TextOf(ElementType type, const std::vector<std::byte>& bytes, uint64_t i) {
  return ElementText(type, bytes.data() + i * artifact::ElementSize(type));
}

// 17 digits tell all doubles apart, and long doubles hold all integers.
long double NumberOf(ElementType type, const std::string& text) {
  return artifact::IsFloat(type) ? std::strtod(text.c_str(), nullptr) : std::strtold(text.c_str(), nullptr);
}

TEST(Conversion, KeepsEveryValueOrRefusesIt) {
  int refused_pairs = 0;
  for (ElementType from : kNumbers) {
    for (ElementType to : kNumbers) {
      const Conversion conversion{from, to};
      SCOPED_TRACE(testing::Message() << artifact::SafetensorsName(from) << " to " << artifact::SafetensorsName(to));
      EXPECT_EQ(conversion.exists(), artifact::IsFloat(to) || !artifact::IsFloat(from));
      if (!conversion.exists()) continue;
      const std::vector<std::byte> samples = Samples(from);
      const uint64_t size = artifact::ElementSize(from);
      bool refuses = false;
      for (uint64_t i = 0; i < samples.size() / size; ++i) {
        std::vector<std::byte> target(artifact::ElementSize(to));
        if (Convert(conversion, samples.data() + i * size, 1, target.data())) {
          refuses = true;
          continue;
        }
        const std::string before = TextOf(from, samples, i), after = TextOf(to, target, 0);
        if (before == "nan")
          EXPECT_THAT(after, testing::EndsWith("nan"));
        else
          EXPECT_EQ(NumberOf(from, before), NumberOf(to, after)) << before;
      }
      EXPECT_EQ(refuses, conversion.may_fail());
      refused_pairs += refuses ? 1 : 0;
    }
  }
  EXPECT_GT(refused_pairs, 20);
}

TEST(Conversion, TellsWhichElementIsNot) {
  const std::vector<std::byte> values = BytesOf<double>({0.5, 2, 0.1, 3});
  std::vector<std::byte> target(16);
  EXPECT_EQ(Convert({F64, F32}, values.data(), 2, target.data()), std::nullopt);
  EXPECT_EQ(Convert({F64, F32}, values.data(), 4, target.data()), 2u);
  EXPECT_EQ(ElementText(F64, values.data() + 16), "0.10000000000000001");
  EXPECT_EQ(Conversion({F64, F32}).ExpectedText(), "a number that F32 holds exactly");
  EXPECT_EQ(Conversion({I64, U16}).ExpectedText(), "0 to 65535");
  const std::vector<std::byte> narrow = BytesOf<int8_t>({-8, 7, 8});
  EXPECT_EQ(Convert({I8, I8, 4}, narrow.data(), 3, target.data()), 2u);
  EXPECT_EQ(Conversion({I8, I8, 4}).ExpectedText(), "-8 to 7");
  EXPECT_FALSE(Conversion({Bool, I8}).exists());
  EXPECT_FALSE(Conversion({C64, F32}).exists());
  EXPECT_TRUE(Conversion({Bool, Bool}).exists());
}

}  // namespace
}  // namespace sgd::data
