// One loop for each pair of types.
#include "runtime/data/conversion.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::data {
namespace {

struct BFloat16 {
  uint16_t bits;
};

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T>;

// Calls `f` with a zero of the type; false for types that are no numbers of 8 to 64 bits, and for F8.
template <typename F>
bool WithNumber(ElementType type, const F& f) {
  switch (type) {
    case ElementType::I8:
      return f(int8_t{}), true;
    case ElementType::I16:
      return f(int16_t{}), true;
    case ElementType::I32:
      return f(int32_t{}), true;
    case ElementType::I64:
      return f(int64_t{}), true;
    case ElementType::U8:
      return f(uint8_t{}), true;
    case ElementType::U16:
      return f(uint16_t{}), true;
    case ElementType::U32:
      return f(uint32_t{}), true;
    case ElementType::U64:
      return f(uint64_t{}), true;
    case ElementType::F16:
      return f(_Float16{}), true;
    case ElementType::BF16:
      return f(BFloat16{}), true;
    case ElementType::F32:
      return f(float{}), true;
    case ElementType::F64:
      return f(double{}), true;
    default:
      return false;
  }
}

template <typename T>
T Load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

double AsDouble(BFloat16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }
template <typename T>
double AsDouble(T value) {
  return static_cast<double>(value);
}

// The nearest value of `To` or, of integers beyond the range of _Float16, an infinity.
template <typename To>
To FromDouble(double value) {
  if constexpr (std::is_same_v<To, BFloat16>) {
    return {static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16)};
  } else {
    return static_cast<To>(value);
  }
}

// False where `to` would not be the same number. Long doubles hold all integers of 64 bits.
template <typename From, typename To>
bool ConvertOne(From from, To& to) {
  if constexpr (kIsInteger<From> && kIsInteger<To>) {
    to = static_cast<To>(from);
    return std::in_range<To>(from);
  } else if constexpr (kIsInteger<From>) {
    to = FromDouble<To>(static_cast<double>(from));
    return static_cast<long double>(AsDouble(to)) == static_cast<long double>(from);
  } else {
    const double value = AsDouble(from);
    to = FromDouble<To>(value);
    return AsDouble(to) == value || (std::isnan(AsDouble(to)) && std::isnan(value));
  }
}

struct IntegerRange {
  int64_t least;
  uint64_t greatest;
};

IntegerRange RangeOf(ElementType type, unsigned narrow_bits) {
  IntegerRange range{};
  WithNumber(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsInteger<T>) {
      range = {static_cast<int64_t>(std::numeric_limits<T>::min()), std::numeric_limits<T>::max()};
    }
  });
  if (narrow_bits == 0) return range;
  if (range.least == 0) return {0, (uint64_t{1} << narrow_bits) - 1};
  return {-(int64_t{1} << (narrow_bits - 1)), (uint64_t{1} << (narrow_bits - 1)) - 1};
}

template <typename T>
bool IsWithin(T value, const IntegerRange& range) {
  return std::cmp_greater_equal(value, range.least) && std::cmp_less_equal(value, range.greatest);
}

template <typename From, typename To>
std::optional<uint64_t> ConvertAll(const IntegerRange* narrow, const std::byte* source, uint64_t count,
                                   std::byte* target) {
  for (uint64_t i = 0; i < count; ++i) {
    To to;
    if (!ConvertOne(Load<From>(source + i * sizeof(From)), to)) return i;
    if constexpr (kIsInteger<To>) {
      if (narrow != nullptr && !IsWithin(to, *narrow)) return i;
    }
    std::memcpy(target + i * sizeof(To), &to, sizeof(To));
  }
  return std::nullopt;
}

bool IsInteger(ElementType type) {
  bool is_integer = false;
  WithNumber(type, [&](auto zero) { is_integer = kIsInteger<decltype(zero)>; });
  return is_integer;
}

bool IsNumber(ElementType type) {
  return WithNumber(type, [](auto) {});
}

// Bits of the significand, the hidden one included.
int PrecisionOf(ElementType type) {
  switch (type) {
    case ElementType::BF16:
      return 8;
    case ElementType::F16:
      return 11;
    case ElementType::F32:
      return 24;
    default:
      return 53;
  }
}

// Whether a float holds all values of the other: F16 has more precision than BF16, but less range.
bool HoldsFloat(ElementType to, ElementType from) {
  if (to == from) return true;
  return PrecisionOf(to) > PrecisionOf(from) && to != ElementType::F16;
}

int BitsOf(ElementType integer) {
  const int bits = static_cast<int>(8 * artifact::ElementSize(integer));
  return RangeOf(integer, 0).least < 0 ? bits - 1 : bits;
}

}  // namespace

bool AreOtherIntegers(ElementType from, ElementType to) { return from != to && IsInteger(from) && IsInteger(to); }

bool Conversion::exists() const {
  if (from == to) return true;
  return IsNumber(from) && IsNumber(to) && (IsInteger(from) || !IsInteger(to));
}

bool Conversion::may_fail() const {
  if (narrow_bits != 0) return true;
  if (from == to) return false;
  if (!IsInteger(from)) return !HoldsFloat(to, from);
  // The least integer of two's complement is a power of two, so each float that has the bits of the greatest has it.
  if (!IsInteger(to)) return BitsOf(from) > PrecisionOf(to) || (to == ElementType::F16 && BitsOf(from) > 15);
  const IntegerRange range = RangeOf(from, 0), holds = RangeOf(to, 0);
  return range.least < holds.least || range.greatest > holds.greatest;
}

std::string Conversion::ExpectedText() const {
  if (!IsInteger(to)) return absl::StrCat("a number that ", artifact::SafetensorsName(to), " holds exactly");
  const IntegerRange range = RangeOf(to, narrow_bits);
  return absl::StrCat(range.least, " to ", range.greatest);
}

std::optional<uint64_t> Convert(const Conversion& conversion, const std::byte* source, uint64_t count,
                                std::byte* target) {
  if (conversion.is_copy()) {
    if (count > 0) std::memcpy(target, source, count * artifact::ElementSize(conversion.to));
    return std::nullopt;
  }
  const IntegerRange narrow = RangeOf(conversion.to, conversion.narrow_bits);
  const IntegerRange* const limits = conversion.narrow_bits == 0 ? nullptr : &narrow;
  std::optional<uint64_t> fault;
  WithNumber(conversion.from, [&](auto from) {
    WithNumber(conversion.to, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if constexpr (kIsInteger<From> || !kIsInteger<To>) fault = ConvertAll<From, To>(limits, source, count, target);
    });
  });
  return fault;
}

std::string ElementText(ElementType type, const std::byte* element) {
  std::string text;
  WithNumber(type, [&](auto zero) {
    using T = decltype(zero);
    const T value = Load<T>(element);
    if constexpr (kIsInteger<T>) {
      absl::StrAppend(&text, +value);
    } else {
      char digits[32];
      std::snprintf(digits, sizeof(digits), "%.17g", AsDouble(value));
      text = digits;
    }
  });
  return text;
}

}  // namespace sgd::data
