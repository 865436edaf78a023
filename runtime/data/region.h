// Which elements of a global tensor something holds: a rank its shard, a file a piece. Copies between two of them need
// no memory for the whole tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/data/safetensors.h"
#include "runtime/data/shard.h"

namespace sgd::data {

// By dimension, ranges of indices in ascending order without overlap: every element whose indices are all in them. A
// scalar has no dimensions. In a file a region's elements stand in row-major order, without gaps.
using Region = std::vector<std::vector<RowRange>>;

// All elements of a tensor with these dimensions.
Region WholeRegion(const Dims& dims);
// The elements of a shard, without its padding.
Region RegionOf(const Shard& shard);
// How many indices there are in each dimension.
Dims DimsOf(const Region& region);
// How many elements a region has; nothing where it does not lie within `dims`, or is none.
std::optional<uint64_t> ElementsWithin(const Region& region, const Dims& dims);

// Part `part` of `parts` of a region, of about equal size, cut along the first dimension that has as many indices;
// where none has, the first part is all of it. Nothing for parts without elements.
std::optional<Region> PartOf(const Region& region, uint32_t part, uint32_t parts);

// Calls `visit(in_shard, in_region, bytes)` for each run of elements that both have and that is contiguous in both.
// Offsets in bytes, into the shard's local bytes and the region's in a file.
using VisitCommon = std::function<void(uint64_t in_shard, uint64_t in_region, uint64_t bytes)>;
void ForEachCommonRun(const Shard& shard, const Region& region, const VisitCommon& visit);

// The same for a tensor of which all is held, with elements of `element_bytes`.
void ForEachRunOfWhole(const Dims& dims, uint64_t element_bytes, const Region& region, const VisitCommon& visit);

}  // namespace sgd::data
