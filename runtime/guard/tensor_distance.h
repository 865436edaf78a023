// How far two results of a tensor lie apart, and how far rounding may move them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/artifact/element_type.h"

namespace sgd::guard {

// Distances of two tensors of one type, in double. Where one element alone is no number, or the other infinity, both
// are infinite.
struct TensorDistance {
  double largest = 0;    // of an element
  double norm = 0;       // of all: the root of the sum of squares
  uint64_t element = 0;  // which is the farthest; of a complex tensor counts parts

  // By field.
  void RaiseTo(const TensorDistance& other);
};

TensorDistance DistanceOf(artifact::ElementType element, std::span<const std::byte> a, std::span<const std::byte> b);

// Results differ by more than rounding where they lie farther apart than this multiple of what rounding does to them.
// docs/decisions/101 measures it.
inline constexpr double kRoundingMultiple = 8;

// How far a tensor may be from another run's: kRoundingMultiple times what noise has moved it, and two units in the
// last place of its largest element. `moved` is the largest of several draws of noise.
TensorDistance LimitOf(artifact::ElementType element, std::span<const std::byte> values, const TensorDistance& moved);

// The share of the limit that the distance takes, by the worse of both fields: above 1 it is more than rounding.
double ShareOf(const TensorDistance& distance, const TensorDistance& limit);

// A unit in the last place of 1; 0 of other types than floats.
double UnitOf(artifact::ElementType element);

}  // namespace sgd::guard
