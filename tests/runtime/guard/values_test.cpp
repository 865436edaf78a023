// Every bit pattern of the small types, and every place of a value in a row.
#include "runtime/guard/values.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "runtime/trace/scalar.h"

namespace sgd::guard {
namespace {

using artifact::ElementType;

template <typename T>
std::span<const std::byte> BytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

// As the logs read one value.
ValueKinds Expected(ElementType element, std::span<const std::byte> value) {
  const double number = trace::AsDouble(trace::ReadScalar(element, value));
  return {number != number,
          number == std::numeric_limits<double>::infinity() || number == -std::numeric_limits<double>::infinity()};
}

TEST(Values, KnowEveryValueOfTheSmallTypes) {
  for (const ElementType element : {ElementType::F16, ElementType::BF16, ElementType::F8E4M3FN, ElementType::F8E5M2}) {
    for (uint32_t bits = 0; bits < (artifact::ElementSize(element) == 2 ? 65536u : 256u); ++bits) {
      std::vector<std::byte> value(artifact::ElementSize(element));
      std::memcpy(value.data(), &bits, value.size());
      const ValueKinds kinds = KindsOf(element, value), expected = Expected(element, value);
      ASSERT_EQ(kinds.has_nan, expected.has_nan) << artifact::ElementName(element) << " " << bits;
      ASSERT_EQ(kinds.has_infinity, expected.has_infinity) << artifact::ElementName(element) << " " << bits;
    }
  }
}

template <typename T>
void CheckPlaces(ElementType element) {
  using Limits = std::numeric_limits<T>;
  for (const T value : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN(),
                        Limits::signaling_NaN(), Limits::max(), Limits::lowest(), Limits::denorm_min()}) {
    for (size_t place = 0; place < 68; ++place) {
      std::vector<T> values(68, T{-1});
      values[place] = value;
      const ValueKinds kinds = KindsOf(element, BytesOf(values));
      ASSERT_EQ(kinds.has_nan, value != value) << place;
      ASSERT_EQ(kinds.has_infinity, value == Limits::infinity() || value == -Limits::infinity()) << place;
      const std::optional<uint64_t> first = FirstNonFinite(element, BytesOf(values));
      ASSERT_EQ(first, kinds.is_finite() ? std::nullopt
                                         : std::optional<uint64_t>(place * sizeof(T) / artifact::ElementSize(element)));
    }
  }
}

TEST(Values, AreFoundInAnyPlace) {
  CheckPlaces<float>(ElementType::F32);
  CheckPlaces<double>(ElementType::F64);
  CheckPlaces<float>(ElementType::C64);
}

TEST(Values, OfIntegersAreFinite) {
  const std::vector<int32_t> values{-1, 0x7fc00000, 0x7f800000};
  for (const ElementType element : {ElementType::I32, ElementType::U32, ElementType::U8, ElementType::Bool})
    EXPECT_TRUE(KindsOf(element, BytesOf(values)).is_finite());
}

TEST(Values, HaveTexts) {
  EXPECT_STREQ(KindsText({true, false}), "nan");
  EXPECT_STREQ(KindsText({false, true}), "infinity");
  EXPECT_STREQ(KindsText({true, true}), "nan and infinity");
}

}  // namespace
}  // namespace sgd::guard
