// Compares bits: without its sign, a value is infinite where it equals the infinity of its type, and not a number
// above.
#include "runtime/guard/values.h"

#include <algorithm>

#include "runtime/trace/scalar.h"

namespace sgd::guard {
namespace {

using artifact::ElementType;

// Bits of one type as signed integers, whose comparisons are vector instructions everywhere.
template <typename Bits>
ValueKinds Scan(std::span<const std::byte> values, Bits magnitude, Bits infinity) {
  const Bits* bits = reinterpret_cast<const Bits*>(values.data());
  const size_t count = values.size() / sizeof(Bits);
  Bits nans = 0, infinities = 0;
  for (size_t i = 0; i < count; ++i) {
    const Bits value = static_cast<Bits>(bits[i] & magnitude);
    nans |= static_cast<Bits>(-(value > infinity));
    infinities |= static_cast<Bits>(-(value == infinity));
  }
  return {nans != 0, infinities != 0};
}

// f8 e4m3fn has one magnitude that is not a number, and no infinity.
ValueKinds ScanE4M3(std::span<const std::byte> values) {
  const bool has_nan =
      std::ranges::any_of(values, [](std::byte value) { return (value & std::byte{0x7f}) == std::byte{0x7f}; });
  return {has_nan, false};
}

}  // namespace

ValueKinds KindsOf(ElementType element, std::span<const std::byte> values) {
  switch (element) {
    case ElementType::F32:
    case ElementType::C64:
      return Scan<int32_t>(values, 0x7fffffff, 0x7f800000);
    case ElementType::F64:
      return Scan<int64_t>(values, 0x7fffffffffffffff, 0x7ff0000000000000);
    case ElementType::BF16:
      return Scan<int16_t>(values, 0x7fff, 0x7f80);
    case ElementType::F16:
      return Scan<int16_t>(values, 0x7fff, 0x7c00);
    case ElementType::F8E5M2:
      return Scan<int8_t>(values, 0x7f, 0x7c);
    case ElementType::F8E4M3FN:
      return ScanE4M3(values);
    default:
      return {};
  }
}

std::optional<uint64_t> FirstNonFinite(ElementType element, std::span<const std::byte> values) {
  if (KindsOf(element, values).is_finite()) return std::nullopt;
  const uint64_t size = artifact::ElementSize(element);
  for (uint64_t i = 0; i < values.size() / size; ++i) {
    if (!KindsOf(element, values.subspan(i * size, size)).is_finite()) return i;
  }
  return std::nullopt;
}

std::vector<double> NumbersOf(ElementType element, std::span<const std::byte> values) {
  const ElementType part = element == ElementType::C64 ? ElementType::F32 : element;
  const uint64_t size = artifact::ElementSize(part);
  std::vector<double> numbers(values.size() / size);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = trace::AsDouble(trace::ReadScalar(part, values.subspan(i * size, size)));
  return numbers;
}

const char* KindsText(const ValueKinds& kinds) {
  if (kinds.has_nan) return kinds.has_infinity ? "nan and infinity" : "nan";
  return kinds.has_infinity ? "infinity" : "finite values";
}

}  // namespace sgd::guard
