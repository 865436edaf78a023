// Tensor shardings to factors and back; assumes that axis parts of one tensor do not overlap.
#include "passes/sharding/propagation/projection.h"

#include <numeric>
#include <utility>

namespace mlir::sgd {

using llvm::ArrayRef;

bool TensorAxes::isSharded() const {
  for (const DimAxes& dim : dims)
    if (!dim.axes.empty()) return true;
  return false;
}

/// Moves axes from the front of `rest` into `factor` until it is full (`size` shards) or the next
/// axis does not fit.
static void fillFactor(AxisParts& rest, FactorAxes& factor, int64_t size) {
  while (!rest.empty() && size > 1) {
    AxisPart& next = rest.front();
    int64_t taken = std::gcd(size, next.size);
    if (taken == 1) return;
    appendMerged(factor.axes, {next.axis, next.begin, taken});
    size /= taken;
    if (taken == next.size) {
      rest.erase(rest.begin());
    } else {
      next = {next.axis, next.begin * taken, next.size / taken};
      if (size > 1) return;
    }
  }
}

static void projectDim(const DimAxes& dim, ArrayRef<unsigned> factorIndices, ArrayRef<int64_t> sizes, Tiling tiling,
                       TensorFactors& result) {
  AxisParts rest = dim.axes;
  bool isBlocked = false;
  for (unsigned index : factorIndices) {
    FactorAxes& factor = result.factors[index];
    factor.isPresent = true;
    factor.isOpen = dim.isOpen;
    factor.isMinorMost = index == factorIndices.back();
    if (isBlocked) continue;
    if (factor.isMinorMost) {
      factor.axes = std::exchange(rest, {});
      break;
    }
    fillFactor(rest, factor, sizes[index]);
    isBlocked = getGroupSize(factor.axes) != sizes[index];
    if (!isBlocked || tiling == Tiling::Nested) continue;
    for (const AxisPart& part : std::exchange(rest, {})) appendMerged(factor.axes, part);
  }
  if (!rest.empty()) result.factors[factorIndices.back()].overflow = rest;
}

TensorFactors project(const TensorAxes& tensor, DimFactors mapping, ArrayRef<int64_t> sizes, Tiling tiling) {
  TensorFactors result;
  result.factors.resize(sizes.size());
  result.replicated = tensor.replicated;
  result.unreduced = tensor.unreduced;
  for (size_t dim = 0; dim < mapping.size(); ++dim) {
    if (!mapping[dim].empty())
      projectDim(tensor.dims[dim], mapping[dim], sizes, tiling, result);
    else
      result.replicated.append(tensor.dims[dim].axes);
  }
  return result;
}

AxisParts joinFactors(ArrayRef<unsigned> factors, ArrayRef<int64_t> sizes, ArrayRef<AxisParts> axesPerFactor,
                      bool* isExact) {
  AxisParts axes;
  bool isBlocked = false;
  for (unsigned factor : factors) {
    if (isBlocked && !axesPerFactor[factor].empty()) {
      if (isExact) *isExact = false;
      return axes;
    }
    for (const AxisPart& part : axesPerFactor[factor]) appendMerged(axes, part);
    if (getGroupSize(axesPerFactor[factor]) != sizes[factor]) isBlocked = true;
  }
  return axes;
}

/// For one dimension.
static bool dimHasFactorTiles(ArrayRef<unsigned> factors, ArrayRef<int64_t> sizes, ArrayRef<AxisParts> axesPerFactor,
                              Tiling tiling) {
  int64_t rest = 1;  // elements of the dimension for each index of the factors that were passed
  for (unsigned factor : factors) rest *= sizes[factor];
  for (unsigned factor : factors) {
    int64_t shards = getGroupSize(axesPerFactor[factor]);
    bool isNested = sizes[factor] % shards == 0;
    bool isFirst = factor == factors.front();
    if (!isNested && (tiling == Tiling::Nested || (!isFirst && rest % shards != 0))) return false;
    rest /= std::max<int64_t>(sizes[factor], 1);
  }
  return true;
}

bool hasFactorTiles(DimFactors mapping, ArrayRef<int64_t> sizes, ArrayRef<AxisParts> axesPerFactor, Tiling tiling) {
  for (const auto& factors : mapping)
    if (factors.size() > 1 && !dimHasFactorTiles(factors, sizes, axesPerFactor, tiling)) return false;
  return true;
}

bool expandDims(TensorAxes& tensor, DimFactors mapping, ArrayRef<int64_t> sizes, const TensorFactors& factors) {
  llvm::SmallVector<AxisParts, 4> axesPerFactor;
  for (const FactorAxes& factor : factors.factors) axesPerFactor.push_back(factor.axes);
  bool isChanged = false;
  for (size_t dim = 0; dim < mapping.size(); ++dim) {
    if (mapping[dim].empty() || !factors.factors[mapping[dim].back()].overflow.empty()) continue;
    AxisParts axes = joinFactors(mapping[dim], sizes, axesPerFactor);
    if (axes == tensor.dims[dim].axes || !isPrefix(tensor.dims[dim].axes, axes)) continue;
    tensor.dims[dim].axes = std::move(axes);
    isChanged = true;
  }
  return isChanged;
}

}  // namespace mlir::sgd
