// Sizes of matmuls. A group's multiplications are points (i, j, l) with i < m, j < n, l < k; the elements that they
// read and write are the points' projections.
#include "compiler/bound/matmul_volume.h"

#include <algorithm>
#include <cmath>

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

static MatmulVolume getVolume(DotGeneralOp dot) {
  MatmulVolume volume;
  ArrayRef<int64_t> lhs = shapeOf(dot.getLhs()), rhs = shapeOf(dot.getRhs());
  for (int64_t dim : dot.getLhsBatching()) volume.groups *= lhs[dim];
  for (int64_t dim : dot.getLhsContracting()) volume.k *= lhs[dim];
  for (int64_t dim : dot.getLhsFree()) volume.m *= lhs[dim];
  for (int64_t dim : dot.getRhsFree()) volume.n *= rhs[dim];
  volume.multiplications = volume.groups * volume.m * volume.n * volume.k;
  return volume;
}

/// Pairs of a window and one of its elements that are on an element of the lhs along spatial dimension `dim`.
static double countPairs(ConvolutionOp convolution, int64_t dim) {
  int64_t size = shapeOf(convolution.getLhs())[dim + 1], window = shapeOf(convolution.getRhs())[dim];
  int64_t dilation = convolution.getLhsDilations()[dim], pairs = 0;
  for (int64_t result = 0; result < shapeOf(convolution.getResult())[dim + 1]; ++result)
    for (int64_t element = 0; element < window; ++element) {
      int64_t place = result * convolution.getStrides()[dim] + element * convolution.getRhsDilations()[dim] -
                      convolution.getLow()[dim];
      pairs += place >= 0 && place % dilation == 0 && place / dilation < size;
    }
  return static_cast<double>(pairs);
}

static MatmulVolume getVolume(ConvolutionOp convolution) {
  ArrayRef<int64_t> lhs = shapeOf(convolution.getLhs()), rhs = shapeOf(convolution.getRhs());
  ArrayRef<int64_t> result = shapeOf(convolution.getResult());
  int64_t spatial = convolution.getNumSpatialDims();
  MatmulVolume volume;
  volume.m = static_cast<double>(lhs[0]);
  volume.groups = static_cast<double>(lhs[spatial + 1]);
  volume.k = static_cast<double>(lhs[spatial + 2]);
  volume.n = static_cast<double>(rhs[spatial + 2]);
  volume.multiplications = volume.groups * volume.m * volume.n * volume.k;
  for (int64_t dim = 0; dim < spatial; ++dim) {
    volume.m *= static_cast<double>(result[dim + 1]);
    volume.k *= static_cast<double>(rhs[dim]);
    volume.repeats *= static_cast<double>(std::min(result[dim + 1], rhs[dim]));
    volume.multiplications *= countPairs(convolution, dim);
  }
  return volume;
}

std::optional<MatmulVolume> mlir::sgd::getMatmulVolume(Operation* op) {
  if (auto dot = dyn_cast<DotGeneralOp>(op)) return getVolume(dot);
  if (auto convolution = dyn_cast<ConvolutionOp>(op)) return getVolume(convolution);
  return std::nullopt;
}

SmallVector<MatmulConstraint, 7> mlir::sgd::getConstraints(const MatmulVolume& volume, double multiplications) {
  double work = std::log(multiplications), repeats = std::log(volume.repeats);
  double m = std::log(volume.m), n = std::log(volume.n), k = std::log(volume.k);
  SmallVector<MatmulConstraint, 7> constraints = {
      {1, work - n - repeats}, {2, work - m}, {4, work - k}, {1 | 2 | 4, 2 * work - repeats}};
  // In one group these follow from the last one and the tensors' sizes.
  if (volume.groups > 1)
    constraints.append(
        {{1 | 2, 2 * work - m - n - repeats}, {1 | 4, 2 * work - k - n - repeats}, {2 | 4, 2 * work - m - k}});
  return constraints;
}
