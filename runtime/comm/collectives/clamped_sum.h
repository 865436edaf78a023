// Sums of clamped linear terms, and the largest value of a sum of them over a line of points: the arithmetic behind
// counting gathered ranges. Depends on nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace sgd::comm {

// Products of two sizes of a range, and sums of as many of them as a mesh has ranks, fit.
using Wide = __int128;

// floor(a / b) and ceil(a / b) for b > 0.
constexpr Wide FloorDiv(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr Wide CeilDiv(Wide a, Wide b) { return -FloorDiv(-a, b); }

// Sum of floor((first + step * i) / divisor) over i in [0, count), for first, step >= 0: the algorithm of Euclid.
Wide FloorSum(Wide count, Wide divisor, Wide step, Wide first);

// weight * sum over k in [0, count) of clamp(ceil((first + slope * d - spacing * k) / divisor), 0, limit) at the point
// d. Spacing and limit are not negative, count and divisor are positive.
struct ClampedSum {
  Wide weight = 1;
  Wide first = 0;
  Wide slope = 0;
  Wide spacing = 0;
  Wide count = 1;
  Wide divisor = 1;
  Wide limit = 0;

  Wide At(Wide point) const;
};

// The largest value over the points in [begin, end) of the sum of `terms`; there must be a point. Between the points
// where a term begins or ends to grow, each is a quadratic on every residue class of its period, so only a few points
// per class are looked at.
Wide LargestOnLine(std::vector<ClampedSum> terms, Wide begin, Wide end);

}  // namespace sgd::comm
