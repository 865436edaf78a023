// Terms k < full are at their limit, terms k >= active are zero; what is between them is summed by FloorSum.
#include "runtime/comm/collectives/clamped_sum.h"

#include <algorithm>
#include <numeric>

namespace sgd::comm {
namespace {

// Periods beyond this are not made use of.
constexpr Wide kLongPeriod = Wide{1} << 40;

Wide GreatestDivisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

// Of two periods; kLongPeriod where that is too long to be of use.
Wide CommonPeriod(Wide a, Wide b) {
  const Wide times = b / GreatestDivisor(a, b);
  return a >= kLongPeriod || times >= kLongPeriod ? kLongPeriod : std::min(a * times, kLongPeriod);
}

// How many of `count` numbers 0, spacing, 2 * spacing, ... are below `bound`.
Wide CountBelow(Wide bound, Wide spacing, Wide count) {
  if (bound <= 0) return 0;
  return spacing == 0 ? count : std::min(count, CeilDiv(bound, spacing));
}

// Where the step from one point to the next takes first + slope * point across a border of the term: from at most
// `border` to more, or back.
void AddBorder(const ClampedSum& term, Wide border, std::vector<Wide>& cuts) {
  if (term.slope > 0) cuts.push_back(FloorDiv(border - term.first, term.slope) + 1);
  if (term.slope < 0) cuts.push_back(CeilDiv(term.first - border, -term.slope));
}

// A term's numerator is above this when the term is at its limit.
Wide FullFrom(const ClampedSum& term) { return term.divisor * (term.limit - 1); }

void AddBorders(const ClampedSum& term, std::vector<Wide>& cuts) {
  const Wide last = term.spacing * (term.count - 1);
  for (Wide border : {Wide{0}, FullFrom(term)}) {
    AddBorder(term, border, cuts);
    if (last > 0) AddBorder(term, border + last, cuts);
  }
}

// After how many points a term goes on as a polynomial, in the piece between borders that holds `point`.
Wide PeriodAt(const ClampedSum& term, Wide point) {
  const Wide last = term.spacing * (term.count - 1), numerator = term.first + term.slope * point;
  const auto grows = [&](Wide over) { return over > 0 && over <= last; };
  Wide period = 1;
  if (grows(numerator) || grows(numerator - FullFrom(term))) {
    period = CommonPeriod(term.spacing, term.divisor);
  } else if (numerator > 0 && numerator <= FullFrom(term) + last) {
    period = term.divisor;
  }
  return period == kLongPeriod ? period : period / GreatestDivisor(period, term.slope);
}

// `count` steps of `spacing` clamped to a multiple of it are as many as the limit has, clamped to all: the fewer the
// better, and a single one has no period.
void Transpose(ClampedSum& term) {
  if (term.divisor != 1 || term.spacing == 0 || term.count == 1 || term.limit % term.spacing != 0) return;
  const Wide times = term.limit / term.spacing;
  if (times >= term.count) return;
  term.limit = term.spacing * term.count;
  term.count = times;
}

class Line {
 public:
  explicit Line(const std::vector<ClampedSum>& terms) : terms_(terms) {}

  // Of [begin, end), which no border cuts.
  Wide LargestOnPiece(Wide begin, Wide end) const {
    Wide period = 1;
    for (const ClampedSum& term : terms_) period = CommonPeriod(period, PeriodAt(term, begin));
    Wide largest = At(begin);
    for (Wide point = begin; point < std::min(end, begin + period); ++point) {
      largest = std::max(largest, LargestOfClass(point, (end - point + period - 1) / period, period));
    }
    return largest;
  }

 private:
  Wide At(Wide point) const {
    Wide sum = 0;
    for (const ClampedSum& term : terms_) sum += term.At(point);
    return sum;
  }

  // Of `count` points `period` apart, on which the sum is a quadratic.
  Wide LargestOfClass(Wide first, Wide count, Wide period) const {
    const Wide a = At(first);
    if (count == 1) return a;
    const Wide b = At(first + period);
    if (count == 2) return std::max(a, b);
    const Wide growth = b - a, bend = At(first + 2 * period) - 2 * b + a;
    const auto at = [&](Wide i) { return a + growth * i + bend * (i * (i - 1) / 2); };
    Wide largest = std::max(a, at(count - 1));
    if (bend < 0) largest = std::max(largest, at(std::clamp<Wide>(CeilDiv(growth, -bend), 0, count - 1)));
    return largest;
  }

  const std::vector<ClampedSum>& terms_;
};

}  // namespace

Wide FloorSum(Wide count, Wide divisor, Wide step, Wide first) {
  Wide sum = 0;
  while (count > 0) {
    sum += count * (count - 1) / 2 * (step / divisor) + count * (first / divisor);
    step %= divisor;
    first %= divisor;
    // Points below the line become points left of it.
    const Wide end = step * count + first;
    count = end / divisor;
    first = end % divisor;
    std::swap(divisor, step);
  }
  return sum;
}

Wide ClampedSum::At(Wide point) const {
  const Wide numerator = first + slope * point;
  const Wide full = CountBelow(numerator - FullFrom(*this), spacing, count),
             active = CountBelow(numerator, spacing, count);
  Wide sum = full * limit;
  if (active > full) {
    const Wide least = numerator - spacing * (active - 1);
    sum += FloorSum(active - full, divisor, spacing, least + divisor - 1);
  }
  return weight * sum;
}

Wide LargestOnLine(std::vector<ClampedSum> terms, Wide begin, Wide end) {
  std::erase_if(terms, [](const ClampedSum& term) { return term.limit == 0 || term.weight == 0; });
  std::vector<Wide> cuts = {begin, end};
  for (ClampedSum& term : terms) {
    Transpose(term);
    AddBorders(term, cuts);
  }
  std::erase_if(cuts, [&](Wide cut) { return cut < begin || cut > end; });
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const Line line(terms);
  Wide largest = line.LargestOnPiece(cuts[0], cuts[1]);
  for (size_t i = 1; i + 1 < cuts.size(); ++i) largest = std::max(largest, line.LargestOnPiece(cuts[i], cuts[i + 1]));
  return largest;
}

}  // namespace sgd::comm
