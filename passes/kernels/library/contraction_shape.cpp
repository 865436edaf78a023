// Merging of einsum labels into batch, m, n and k.
#include "passes/kernels/library/contraction_shape.h"

#include <algorithm>
#include <tuple>

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

constexpr size_t kMaxBatchDims = 4;
constexpr int64_t kMaxRepeats = 8;
/// Calls of a library cost more than a kernel that transposes an operand.
constexpr int64_t kMaxCalls = 16;

/// One dimension of the einsum, or several merged: its stride in each tensor, or -1 where it is absent.
struct Group {
  int64_t size = 1;
  int64_t a = -1, b = -1, c = -1;

  bool isSameRole(const Group& other) const {
    return (a < 0) == (other.a < 0) && (b < 0) == (other.b < 0) && (c < 0) == (other.c < 0);
  }
  /// True when `inner` is directly inside this one in every tensor.
  bool contains(const Group& inner) const {
    auto fits = [&](int64_t outer, int64_t within) { return outer < 0 || outer == within * inner.size; };
    return isSameRole(inner) && fits(a, inner.a) && fits(b, inner.b) && fits(c, inner.c);
  }
};

int64_t strideOf(LabelledTensor tensor, int64_t label) {
  int64_t stride = 1;
  for (size_t dim = tensor.labels.size(); dim-- > 0;) {
    if (tensor.labels[dim] == label) return tensor.strides.empty() ? stride : tensor.strides[dim];
    stride *= tensor.sizes[dim];
  }
  return -1;
}

/// One group per label with more than one element, in the order of the operands.
SmallVector<Group> getGroups(LabelledTensor lhs, LabelledTensor rhs, LabelledTensor result) {
  SmallVector<Group> groups;
  SmallVector<int64_t> seen;
  for (LabelledTensor tensor : {lhs, rhs})
    for (auto [label, size] : llvm::zip(tensor.labels, tensor.sizes)) {
      if (size == 1 || llvm::is_contained(seen, label)) continue;
      seen.push_back(label);
      groups.push_back({size, strideOf(lhs, label), strideOf(rhs, label), strideOf(result, label)});
    }
  return groups;
}

bool mergeOnce(SmallVector<Group>& groups) {
  for (Group& outer : groups)
    for (Group& inner : groups) {
      if (&outer == &inner || !outer.contains(inner)) continue;
      inner.size *= outer.size;
      groups.erase(&outer);
      return true;
    }
  return false;
}

struct Roles {
  SmallVector<Group> batch, m, n, k;
};

Roles sortByRole(ArrayRef<Group> groups) {
  Roles roles;
  for (const Group& group : groups) {
    if (group.c < 0)
      roles.k.push_back(group);
    else if (group.a >= 0 && group.b >= 0)
      roles.batch.push_back(group);
    else if (group.a >= 0)
      roles.m.push_back(group);
    else
      roles.n.push_back(group);
  }
  return roles;
}

bool isMatrix(int64_t rows, int64_t rowStride, int64_t columns, int64_t columnStride) {
  return rows == 1 || columns == 1 || rowStride == 1 || columnStride == 1;
}

/// The form with groups m, n, k chosen (-1: a size of one) and the others as batch dimensions and repeats.
std::optional<ContractionShape> build(const Roles& roles, int m, int n, int k) {
  ContractionShape shape;
  const Group one{1, 1, 1, 1};
  const Group &gm = m < 0 ? one : roles.m[m], &gn = n < 0 ? one : roles.n[n], &gk = k < 0 ? one : roles.k[k];
  std::tie(shape.m, shape.n, shape.k) = std::tuple(gm.size, gn.size, gk.size);
  std::tie(shape.aM, shape.cM, shape.bN, shape.cN, shape.aK, shape.bK) = std::tuple(gm.a, gm.c, gn.b, gn.c, gk.a, gk.b);
  auto addBatch = [&](const Group& group) {
    shape.batch.push_back(group.size);
    shape.aBatch.push_back(std::max<int64_t>(group.a, 0));
    shape.bBatch.push_back(std::max<int64_t>(group.b, 0));
    shape.cBatch.push_back(group.c);
  };
  for (const Group& group : roles.batch) addBatch(group);
  for (auto [index, group] : llvm::enumerate(roles.m))
    if (static_cast<int>(index) != m) addBatch(group);
  for (auto [index, group] : llvm::enumerate(roles.n))
    if (static_cast<int>(index) != n) addBatch(group);
  for (auto [index, group] : llvm::enumerate(roles.k)) {
    if (static_cast<int>(index) == k) continue;
    if (shape.repeats != 1 || group.size > kMaxRepeats) return std::nullopt;
    std::tie(shape.repeats, shape.aStep, shape.bStep) = std::tuple(group.size, group.a, group.b);
  }
  if (shape.batch.size() > kMaxBatchDims || !isMatrix(shape.m, shape.aM, shape.k, shape.aK) ||
      !isMatrix(shape.k, shape.bK, shape.n, shape.bN) || !isMatrix(shape.m, shape.cM, shape.n, shape.cN))
    return std::nullopt;
  return shape;
}

/// Seen from the other side: c transposed = b transposed * a transposed.
void swapOperands(ContractionShape& shape) {
  std::swap(shape.m, shape.n);
  std::swap(shape.aBatch, shape.bBatch);
  std::swap(shape.aStep, shape.bStep);
  std::tie(shape.aM, shape.aK, shape.bK, shape.bN) = std::tuple(shape.bN, shape.bK, shape.aK, shape.aM);
  std::swap(shape.cM, shape.cN);
  shape.swapped = !shape.swapped;
}

/// A dimension of one element has any stride: take the one that makes the matrix contiguous.
void tidyStrides(ContractionShape& shape) {
  auto tidy = [](int64_t rows, int64_t& rowStride, int64_t columns, int64_t& columnStride) {
    if (columns == 1) columnStride = 1;
    if (rows == 1) rowStride = columnStride == 1 ? columns : 1;
  };
  tidy(shape.m, shape.aM, shape.k, shape.aK);
  tidy(shape.k, shape.bK, shape.n, shape.bN);
  tidy(shape.m, shape.cM, shape.n, shape.cN);
}

}  // namespace

static int64_t getCalls(const ContractionShape& shape, const MatmulLimits& limits) {
  SmallVector<int64_t, 4> sizes(shape.batch);
  llvm::sort(sizes, std::greater<>());
  int64_t calls = 1;
  for (int64_t size : ArrayRef(sizes).drop_front(std::min<size_t>(sizes.size(), limits.batchDims))) calls *= size;
  return calls;
}

std::optional<ContractionShape> mlir::sgd::getContractionShape(LabelledTensor lhs, LabelledTensor rhs,
                                                               LabelledTensor result, bool mayRepeat,
                                                               const MatmulLimits& limits) {
  SmallVector<Group> groups = getGroups(lhs, rhs, result);
  while (mergeOnce(groups)) continue;
  Roles roles = sortByRole(groups);
  auto first = [](ArrayRef<Group> groups) { return groups.empty() ? -1 : 0; };
  std::optional<ContractionShape> best;
  for (int k = first(roles.k); k < static_cast<int>(roles.k.size()); ++k)
    for (int m = first(roles.m); m < static_cast<int>(roles.m.size()); ++m)
      for (int n = first(roles.n); n < static_cast<int>(roles.n.size()); ++n) {
        std::optional<ContractionShape> shape = build(roles, m, n, k);
        if (!shape || (shape->repeats > 1 && !mayRepeat) || getCalls(*shape, limits) > kMaxCalls) continue;
        if (!best || getContractionCost(*shape, limits) < getContractionCost(*best, limits)) best = shape;
      }
  if (!best) return std::nullopt;
  if (best->m != 1 && best->n != 1 && best->cN != 1) swapOperands(*best);
  tidyStrides(*best);
  return best;
}

int64_t mlir::sgd::getContractionCost(const ContractionShape& shape, const MatmulLimits& limits) {
  int64_t matmuls = shape.repeats;
  if (static_cast<size_t>(limits.batchDims) < kMaxBatchDims) return matmuls * getCalls(shape, limits);
  for (int64_t size : shape.batch) matmuls *= size;
  return matmuls;
}
