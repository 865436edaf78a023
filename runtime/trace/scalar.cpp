// Decoding of single elements and their shortest decimal text.
#include "runtime/trace/scalar.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace sgd::trace {
namespace {

using artifact::ElementType;

template <typename T>
T Load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

float FromF16(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const float mantissa = static_cast<float>(bits & 0x3ff);
  float magnitude = 0;
  if (exponent == 0) {
    magnitude = std::ldexp(mantissa, -24);
  } else if (exponent == 31) {
    magnitude = mantissa == 0 ? HUGE_VALF : NAN;
  } else {
    magnitude = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

float FromE4M3FN(uint8_t bits) {
  const int exponent = bits >> 3 & 0xf, mantissa = bits & 7;
  float magnitude = std::ldexp(static_cast<float>(exponent == 0 ? mantissa : 8 + mantissa), std::max(exponent, 1) - 10);
  if ((bits & 0x7f) == 0x7f) magnitude = NAN;
  return bits & 0x80 ? -magnitude : magnitude;
}

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end);
}

}  // namespace

Scalar ReadScalar(ElementType element, std::span<const std::byte> bytes) {
  Scalar scalar{.element = element};
  switch (element) {
    case ElementType::F32:
      scalar.number = Load<float>(bytes);
      break;
    case ElementType::F64:
      scalar.number = Load<double>(bytes);
      break;
    case ElementType::F16:
      scalar.number = FromF16(Load<uint16_t>(bytes));
      break;
    case ElementType::BF16:
      scalar.number = std::bit_cast<float>(uint32_t{Load<uint16_t>(bytes)} << 16);
      break;
    case ElementType::F8E4M3FN:
      scalar.number = FromE4M3FN(Load<uint8_t>(bytes));
      break;
    case ElementType::F8E5M2:
      // The upper half of f16.
      scalar.number = FromF16(static_cast<uint16_t>(Load<uint8_t>(bytes) << 8));
      break;
    case ElementType::Bool:
      scalar.integer = Load<uint8_t>(bytes) != 0;
      break;
    case ElementType::I8:
      scalar.integer = Load<int8_t>(bytes);
      break;
    case ElementType::I16:
      scalar.integer = Load<int16_t>(bytes);
      break;
    case ElementType::I32:
      scalar.integer = Load<int32_t>(bytes);
      break;
    case ElementType::I64:
      scalar.integer = Load<int64_t>(bytes);
      break;
    case ElementType::U8:
      scalar.integer = Load<uint8_t>(bytes);
      break;
    case ElementType::U16:
      scalar.integer = Load<uint16_t>(bytes);
      break;
    case ElementType::U32:
      scalar.integer = Load<uint32_t>(bytes);
      break;
    case ElementType::U64:
      scalar.integer = static_cast<int64_t>(Load<uint64_t>(bytes));
      break;
    case ElementType::C64:
      scalar.number = NAN;
      break;
  }
  return scalar;
}

double AsDouble(const Scalar& scalar) {
  if (artifact::IsFloat(scalar.element)) return scalar.number;
  if (scalar.element == ElementType::U64) return static_cast<double>(static_cast<uint64_t>(scalar.integer));
  return static_cast<double>(scalar.integer);
}

std::string ScalarText(const Scalar& scalar) {
  if (scalar.element == ElementType::F64) return Shortest(scalar.number);
  // f8, f16 and bf16 are exact in f32, so its shortest text names them too.
  if (artifact::IsFloat(scalar.element)) return Shortest(static_cast<float>(scalar.number));
  if (scalar.element == ElementType::Bool) return scalar.integer != 0 ? "true" : "false";
  if (scalar.element == ElementType::U64) return Shortest(static_cast<uint64_t>(scalar.integer));
  return Shortest(scalar.integer);
}

std::string ScalarJson(const Scalar& scalar) {
  if (artifact::IsFloat(scalar.element) && !std::isfinite(scalar.number)) return "null";
  return ScalarText(scalar);
}

std::string NumberJson(double number) { return std::isfinite(number) ? Shortest(number) : "null"; }

}  // namespace sgd::trace
