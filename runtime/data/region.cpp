// Products of ranges: what two of them have in common is the product of what they have in common in each dimension.
#include "runtime/data/region.h"

#include <algorithm>

#include "runtime/artifact/element_type.h"

namespace sgd::data {
namespace {

// A range of indices that both have, and where it stands in each.
struct Common {
  uint64_t count = 0;
  uint64_t first = 0, second = 0;
};

struct CommonDim {
  uint64_t first_size = 0, second_size = 0;
  std::vector<Common> ranges;

  bool is_whole() const { return ranges.size() == 1 && ranges[0].count == first_size && first_size == second_size; }
};

uint64_t Count(const std::vector<RowRange>& ranges) {
  uint64_t count = 0;
  for (const RowRange& range : ranges) count += range.count;
  return count;
}

CommonDim Intersect(const std::vector<HeldRange>& held, uint64_t size, const std::vector<RowRange>& ranges) {
  CommonDim dim{size, Count(ranges), {}};
  uint64_t before = 0;  // indices of the region before `range`
  size_t next = 0;      // both ascend
  for (const RowRange& range : ranges) {
    while (next < held.size() && held[next].begin + held[next].extent <= range.first) ++next;
    for (size_t i = next; i < held.size() && held[i].begin < range.first + range.count; ++i) {
      const uint64_t begin = std::max(held[i].begin, range.first);
      const uint64_t end = std::min(held[i].begin + held[i].extent, range.first + range.count);
      if (begin < end)
        dim.ranges.push_back({end - begin, held[i].local + begin - held[i].begin, before + begin - range.first});
    }
    before += range.count;
  }
  return dim;
}

// Elements before the dimension `d` of both.
void Walk(const std::vector<CommonDim>& dims, size_t d, size_t last, uint64_t run, uint64_t first, uint64_t second,
          const VisitCommon& visit) {
  for (const Common& range : dims[d].ranges) {
    const uint64_t in_first = first * dims[d].first_size + range.first;
    const uint64_t in_second = second * dims[d].second_size + range.second;
    if (d == last) {
      visit(in_first * run, in_second * run, range.count * run);
      continue;
    }
    for (uint64_t i = 0; i < range.count; ++i) Walk(dims, d + 1, last, run, in_first + i, in_second + i, visit);
  }
}

void ForEach(const std::vector<HeldDim>& held, uint64_t element_bytes, const Region& region, const VisitCommon& visit) {
  std::vector<CommonDim> dims;
  for (size_t d = 0; d < held.size(); ++d) dims.push_back(Intersect(held[d].ranges, held[d].size, region[d]));
  if (std::ranges::any_of(dims, [](const CommonDim& dim) { return dim.ranges.empty(); })) return;
  if (dims.empty()) return visit(0, 0, element_bytes);
  // Trailing dimensions that are whole in both belong to one run.
  size_t last = dims.size();
  uint64_t run = element_bytes;
  while (last > 1 && dims[last - 1].is_whole()) run *= dims[--last].first_size;
  Walk(dims, 0, last - 1, run, 0, 0, visit);
}

}  // namespace

Region WholeRegion(const Dims& dims) {
  Region region;
  for (const uint64_t dim : dims) region.push_back({{0, dim}});
  return region;
}

Region RegionOf(const Shard& shard) {
  Region region;
  for (const HeldDim& dim : shard.held()) {
    std::vector<RowRange>& ranges = region.emplace_back();
    for (const HeldRange& range : dim.ranges) ranges.push_back({range.begin, range.extent});
  }
  return region;
}

Dims DimsOf(const Region& region) {
  Dims dims;
  for (const std::vector<RowRange>& ranges : region) dims.push_back(Count(ranges));
  return dims;
}

std::optional<uint64_t> ElementsWithin(const Region& region, const Dims& dims) {
  if (region.size() != dims.size()) return std::nullopt;
  uint64_t elements = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    uint64_t end = 0;
    for (const RowRange& range : region[d]) {
      if (range.first < end || range.first > dims[d] || range.count > dims[d] - range.first) return std::nullopt;
      end = range.first + range.count;
    }
    elements *= Count(region[d]);
  }
  return elements;
}

std::optional<Region> PartOf(const Region& region, uint32_t part, uint32_t parts) {
  const Dims dims = DimsOf(region);
  if (std::ranges::find(dims, 0u) != dims.end()) return std::nullopt;
  const auto cut = std::ranges::find_if(dims, [&](uint64_t dim) { return dim >= parts; });
  if (cut == dims.end()) return part == 0 ? std::optional(region) : std::nullopt;
  const uint64_t begin = *cut * part / parts, end = *cut * (part + 1) / parts;
  Region result = region;
  std::vector<RowRange>& ranges = result[static_cast<size_t>(cut - dims.begin())];
  std::vector<RowRange> kept;
  uint64_t before = 0;
  for (const RowRange& range : ranges) {
    const uint64_t first = std::max(begin, before), last = std::min(end, before + range.count);
    if (first < last) kept.push_back({range.first + first - before, last - first});
    before += range.count;
  }
  ranges = std::move(kept);
  return result;
}

void ForEachCommonRun(const Shard& shard, const Region& region, const VisitCommon& visit) {
  if (!shard.has_rows()) return;
  ForEach(shard.held(), artifact::ElementSize(shard.type().element), region, visit);
}

void ForEachRunOfWhole(const Dims& dims, uint64_t element_bytes, const Region& region, const VisitCommon& visit) {
  std::vector<HeldDim> held;
  for (const uint64_t dim : dims) held.push_back({dim, {{0, dim, 0}}});
  ForEach(held, element_bytes, region, visit);
}

}  // namespace sgd::data
