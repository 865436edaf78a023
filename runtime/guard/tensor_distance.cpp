// Equal bytes are at no distance, so that what is not a number on both sides is equal.
#include "runtime/guard/tensor_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/guard/values.h"

namespace sgd::guard {
namespace {

using artifact::ElementType;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double DistanceOf(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : kInfinite;
}

double Share(double distance, double limit) {
  if (distance == 0) return 0;
  return limit == 0 ? kInfinite : std::isinf(limit) ? 0 : distance / limit;
}

}  // namespace

void TensorDistance::RaiseTo(const TensorDistance& other) {
  if (other.largest > largest) element = other.element;
  largest = std::max(largest, other.largest);
  norm = std::max(norm, other.norm);
}

TensorDistance DistanceOf(ElementType element, std::span<const std::byte> a, std::span<const std::byte> b) {
  TensorDistance distance;
  if (std::ranges::equal(a, b)) return distance;
  double squares = 0;
  uint64_t first = 0;
  for (size_t begin = 0; begin < a.size(); begin += kPartBytes) {
    const size_t bytes = std::min(kPartBytes, a.size() - begin);
    const std::vector<double> left = NumbersOf(element, a.subspan(begin, bytes));
    const std::vector<double> right = NumbersOf(element, b.subspan(begin, bytes));
    for (size_t i = 0; i < left.size(); ++i) {
      const double of_element = DistanceOf(left[i], right[i]);
      squares += of_element * of_element;
      if (of_element > distance.largest) distance.largest = of_element, distance.element = first + i;
    }
    first += left.size();
  }
  distance.norm = std::sqrt(squares);
  return distance;
}

TensorDistance LimitOf(ElementType element, std::span<const std::byte> values, const TensorDistance& moved) {
  double largest = 0, squares = 0;
  for (size_t begin = 0; begin < values.size(); begin += kPartBytes) {
    for (const double number : NumbersOf(element, values.subspan(begin, std::min(kPartBytes, values.size() - begin)))) {
      if (!std::isfinite(number)) continue;
      largest = std::max(largest, std::abs(number));
      squares += number * number;
    }
  }
  const double units = 2 * UnitOf(element);
  return {.largest = kRoundingMultiple * moved.largest + units * largest,
          .norm = kRoundingMultiple * moved.norm + units * std::sqrt(squares)};
}

double ShareOf(const TensorDistance& distance, const TensorDistance& limit) {
  return std::max(Share(distance.largest, limit.largest), Share(distance.norm, limit.norm));
}

double UnitOf(ElementType element) {
  switch (element) {
    case ElementType::F64:
      return 0x1p-52;
    case ElementType::F32:
    case ElementType::C64:
      return 0x1p-23;
    case ElementType::F16:
      return 0x1p-10;
    case ElementType::BF16:
      return 0x1p-7;
    case ElementType::F8E4M3FN:
      return 0x1p-3;
    case ElementType::F8E5M2:
      return 0x1p-2;
    default:
      return 0;
  }
}

}  // namespace sgd::guard
