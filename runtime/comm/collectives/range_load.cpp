// The elements that a rank sends are clamped sums (clamped_sum.h) of its sub-axes: how many of all results' positions
// lie before the end of its tile, less how many lie before its begin, less what it keeps. Sub-axes that number tiles
// and results alike are one variable; the largest variable is searched as a line, the others are enumerated.
#include "runtime/comm/collectives/range_load.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/comm/collectives/clamped_sum.h"

namespace sgd::comm {
namespace {

// A part of a rank's number, and what one more of it adds to the index of the rank's tile and of its result: 0 where it
// does not number them.
struct Variable {
  uint64_t stride = 1;
  uint64_t size = 1;
  uint64_t tile = 0;
  uint64_t result = 0;
};

// Whether `sub_axis` holds the part of a rank's number that begins at `stride`.
bool Holds(const SubAxis& sub_axis, uint64_t stride) {
  return sub_axis.stride <= stride && stride < sub_axis.stride * sub_axis.size;
}

// The amount that one more of the part at `stride` adds to an index over `sub_axes`.
uint64_t WeightOf(std::span<const SubAxis> sub_axes, uint64_t stride) {
  uint64_t weight = 1;
  for (size_t i = sub_axes.size(); i-- > 0; weight *= sub_axes[i].size) {
    if (Holds(sub_axes[i], stride)) return weight * (stride / sub_axes[i].stride);
  }
  return 0;
}

// The coarsest parts that all sub-axes consist of; none where sub-axes cut an axis in ways that have no common
// refinement.
std::optional<std::vector<Variable>> SplitSubAxes(std::span<const SubAxis> tiles, std::span<const SubAxis> results) {
  std::vector<uint64_t> borders;
  for (std::span<const SubAxis> sub_axes : {tiles, results}) {
    for (const SubAxis& sub_axis : sub_axes) {
      if (sub_axis.size > 1) borders.insert(borders.end(), {sub_axis.stride, sub_axis.stride * sub_axis.size});
    }
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::vector<Variable> parts;
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    const Variable part{borders[i], borders[i + 1] / borders[i], WeightOf(tiles, borders[i]),
                        WeightOf(results, borders[i])};
    if (part.tile == 0 && part.result == 0) continue;
    if (borders[i + 1] % borders[i] != 0) return std::nullopt;
    parts.push_back(part);
  }
  return parts;
}

// Joins variables that follow one another in every index that they are part of.
void Join(std::vector<Variable>& variables, bool of_results_only) {
  const auto follows = [&](const Variable& major, const Variable& minor) {
    return major.result == minor.result * minor.size && (of_results_only || major.tile == minor.tile * minor.size);
  };
  for (size_t i = 0; i < variables.size(); ++i) {
    for (size_t j = 0; j < variables.size();) {
      if (i == j || !follows(variables[i], variables[j])) {
        ++j;
        continue;
      }
      variables[i] = {variables[j].stride, variables[i].size * variables[j].size, variables[j].tile,
                      variables[j].result};
      variables.erase(variables.begin() + static_cast<std::ptrdiff_t>(j));
      if (j < i) --i;
      j = 0;
    }
  }
}

// The last of `variables` becomes the largest.
void PutLargestLast(std::vector<Variable>& variables) {
  const auto is_smaller = [](const Variable& a, const Variable& b) { return a.size < b.size; };
  if (!variables.empty()) {
    std::iter_swap(std::max_element(variables.begin(), variables.end(), is_smaller), variables.end() - 1);
  }
}

// Numbers that a rank's sub-axes make: of its tile, of its result, and of what its result has in common with those that
// it sends to.
struct Indices {
  Wide tile = 0;
  Wide result = 0;
  Wide common = 0;

  Indices Plus(const Variable& variable, Wide value) const {
    return {tile + value * variable.tile, result + value * variable.result,
            common + (variable.tile == 0 ? value * variable.result : 0)};
  }
};

// Calls visit(indices) for all values of `variables`.
template <class Visit>
void ForEachValue(std::span<const Variable> variables, const Indices& first, const Visit& visit) {
  if (variables.empty()) return visit(first);
  for (uint64_t value = 0; value < variables.front().size; ++value) {
    ForEachValue(variables.subspan(1), first.Plus(variables.front(), value), visit);
  }
}

class Load {
 public:
  Load(std::vector<Variable> variables, std::span<const RangeLoad> ranges)
      : variables_(std::move(variables)), ranges_(ranges) {
    for (const Variable& variable : variables_) {
      if (variable.result == 0) copies_ *= variable.size;
      if (variable.result != 0 && variable.tile != 0) receivers_.push_back(variable);
    }
    Join(receivers_, /*of_results_only=*/true);
    PutLargestLast(receivers_);
    Join(variables_, /*of_results_only=*/false);
    PutLargestLast(variables_);
  }

  uint64_t Most() const {
    Wide most = 0;
    ForEachValue(std::span(variables_).first(variables_.size() - 1), {},
                 [&](const Indices& first) { most = std::max(most, MostOnLine(first)); });
    return static_cast<uint64_t>(most);
  }

 private:
  // Of the ranks that differ from the one with indices `first` in the last variable.
  Wide MostOnLine(const Indices& first) const {
    const Variable& line = variables_.back();
    std::vector<Wide> cuts = {0, line.size};
    for (const RangeLoad& load : ranges_) AddCuts(load.range, first, cuts);
    std::erase_if(cuts, [&](Wide cut) { return cut < 0 || cut > line.size; });
    std::sort(cuts.begin(), cuts.end());
    Wide most = 0;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (cuts[i] == cuts[i + 1]) continue;
      std::vector<ClampedSum> terms;
      for (const RangeLoad& load : ranges_) AddTerms(load, first, cuts[i], terms);
      most = std::max(most, LargestOnLine(std::move(terms), cuts[i], cuts[i + 1]));
    }
    return most;
  }

  // Where the line comes to tiles that hold less than others, and to those that hold nothing.
  void AddCuts(const TileRange& range, const Indices& first, std::vector<Wide>& cuts) const {
    const Wide step = variables_.back().tile;
    if (step == 0 || range.tile == 0) return;
    for (Wide tile : {FloorDiv(range.size, range.tile), CeilDiv(range.size, range.tile)}) {
      cuts.push_back(CeilDiv(tile - first.tile, step));
    }
  }

  // Elements of one operand that ranks from `point` to the next cut of the line send: positions before the end of
  // the tile less positions before its begin, of all receivers but the sender.
  void AddTerms(const RangeLoad& load, const Indices& first, Wide point, std::vector<ClampedSum>& terms) const {
    const TileRange& range = load.range;
    const Variable& line = variables_.back();
    const Wide tile = range.tile, size = range.size, begin = tile * first.tile, step = tile * line.tile;
    if (begin + step * point >= size) return;
    const bool is_full = begin + step * point + tile <= size;
    const Wide bytes = load.element_bytes;
    AddPositions(range, first, begin, step, -bytes, terms);
    AddPositions(range, first, is_full ? begin + tile : size, is_full ? step : 0, bytes, terms);
  }

  // The positions that are before element `element` + `step` * d, d being the last variable.
  void AddPositions(const TileRange& range, const Indices& first, Wide element, Wide step, Wide bytes,
                    std::vector<ClampedSum>& terms) const {
    const Indices next = Indices().Plus(variables_.back(), 1);
    const Wide divisor = range.divisor;
    ClampedSum term{.slope = divisor * step, .divisor = divisor * range.step, .limit = range.length};
    const auto add = [&](Wide result, Wide result_step, Wide weight) {
      term.first = divisor * element - range.offset - range.scale * result;
      term.slope = divisor * step - range.scale * result_step;
      term.weight = weight;
      terms.push_back(term);
    };
    add(first.result, next.result, -bytes);
    if (receivers_.empty()) return add(first.common, next.common, bytes * copies_);
    const Variable& receivers = receivers_.back();
    term.count = receivers.size;
    term.spacing = Wide{range.scale} * receivers.result;
    // Spacings are not negative: the last receiver becomes the first.
    const Wide last = term.spacing < 0 ? receivers.result * (term.count - 1) : 0;
    if (term.spacing < 0) term.spacing = -term.spacing;
    ForEachValue(std::span(receivers_).first(receivers_.size() - 1), {}, [&](const Indices& others) {
      add(first.common + others.result + last, next.common, bytes * copies_);
    });
  }

  std::vector<Variable> variables_;
  std::vector<Variable> receivers_;  // in which the receivers of different results differ from their sender
  std::span<const RangeLoad> ranges_;
  Wide copies_ = 1;  // ranks that want the same result of the same sender
};

// For sub-axes that cut an axis in ways without a common refinement, as halves and thirds of an axis of six do.
uint64_t MostSentOnWalk(std::span<const SubAxis> tiles, std::span<const SubAxis> results,
                        std::span<const RangeLoad> ranges) {
  uint64_t ranks = 1;
  for (std::span<const SubAxis> sub_axes : {tiles, results}) {
    for (const SubAxis& sub_axis : sub_axes) ranks = std::max(ranks, sub_axis.stride * sub_axis.size);
  }
  std::vector<uint64_t> sent(ranks);
  for (const RangeLoad& load : ranges) AddSentBytes(tiles, results, load.range, load.element_bytes, sent);
  return *std::max_element(sent.begin(), sent.end());
}

}  // namespace

uint64_t MostSentBytes(std::span<const SubAxis> tiles, std::span<const SubAxis> results,
                       std::span<const RangeLoad> ranges) {
  std::optional<std::vector<Variable>> variables = SplitSubAxes(tiles, results);
  if (!variables) return MostSentOnWalk(tiles, results, ranges);
  return variables->empty() ? 0 : Load(std::move(*variables), ranges).Most();
}

}  // namespace sgd::comm
