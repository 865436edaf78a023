// Candidates are read off the first group or the pairs, then everything is compared with them.
#include "frontends/stablehlo/replica_groups.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace mlir::sgd {

using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// Ranks as coordinates on the mesh.
class Coordinates {
 public:
  explicit Coordinates(ArrayRef<int64_t> sizes) : sizes(sizes), strides(sizes.size(), 1) {
    for (size_t axis = sizes.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * sizes[axis];
    numRanks = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  }

  int64_t getNumRanks() const { return numRanks; }
  bool isRank(int64_t rank) const { return rank >= 0 && rank < numRanks; }
  int64_t get(int64_t rank, unsigned axis) const { return rank / strides[axis] % sizes[axis]; }

  /// Linear index over `axes`, the first slowest.
  int64_t getIndex(int64_t rank, ArrayRef<unsigned> axes) const {
    int64_t index = 0;
    for (unsigned axis : axes) index = index * sizes[axis] + get(rank, axis);
    return index;
  }
  /// The rank with its coordinates on `axes` set to zero.
  int64_t getBase(int64_t rank, ArrayRef<unsigned> axes) const {
    for (unsigned axis : axes) rank -= get(rank, axis) * strides[axis];
    return rank;
  }

  ArrayRef<int64_t> sizes;

 private:
  SmallVector<int64_t> strides;
  int64_t numRanks;
};
}  // namespace

/// Axes on which ranks of `group` differ, the one that changes first along it last.
static AxisOrder readOrder(const Coordinates& mesh, ArrayRef<int64_t> group) {
  SmallVector<std::pair<size_t, unsigned>> changes;
  for (unsigned axis = 0; axis < mesh.sizes.size(); ++axis) {
    for (size_t i = 1; i < group.size(); ++i) {
      if (mesh.get(group[i], axis) == mesh.get(group[0], axis)) continue;
      changes.push_back({i, axis});
      break;
    }
  }
  std::sort(changes.rbegin(), changes.rend());
  AxisOrder order;
  for (auto [at, axis] : changes) order.push_back(axis);
  return order;
}

std::optional<AxisOrder> findGroupAxes(ArrayRef<int64_t> sizes, ArrayRef<SmallVector<int64_t>> groups) {
  Coordinates mesh(sizes);
  std::set<int64_t> seen;
  for (ArrayRef<int64_t> group : groups)
    for (int64_t rank : group)
      if (!mesh.isRank(rank) || !seen.insert(rank).second) return std::nullopt;
  if (groups.empty() || static_cast<int64_t>(seen.size()) != mesh.getNumRanks()) return std::nullopt;
  AxisOrder order = readOrder(mesh, groups[0]);
  int64_t size = 1;
  for (unsigned axis : order) size *= sizes[axis];
  for (ArrayRef<int64_t> group : groups) {
    if (static_cast<int64_t>(group.size()) != size) return std::nullopt;
    for (size_t i = 0; i < group.size(); ++i)
      if (mesh.getIndex(group[i], order) != static_cast<int64_t>(i) ||
          mesh.getBase(group[i], order) != mesh.getBase(group[0], order))
        return std::nullopt;
  }
  return order;
}

namespace {
/// A mesh with axes cut into sub-axes.
struct SubAxes {
  llvm::SmallVector<SubAxis, 2> subAxes;
  llvm::SmallVector<int64_t> sizes;

  void add(unsigned axis, ArrayRef<int64_t> factors) {
    int64_t before = 1;
    for (int64_t factor : factors) {
      subAxes.push_back({axis, before, factor});
      sizes.push_back(factor);
      before *= factor;
    }
  }
};
}  // namespace

/// Every way to write `size` as a product of primes, in order; {1} for 1.
static std::vector<std::vector<int64_t>> factorOrders(int64_t size) {
  std::vector<int64_t> factors;
  for (int64_t factor = 2; size > 1; ++factor)
    for (; size % factor == 0; size /= factor) factors.push_back(factor);
  if (factors.empty()) factors = {1};
  std::vector<std::vector<int64_t>> orders;
  do orders.push_back(factors);
  while (std::next_permutation(factors.begin(), factors.end()));
  return orders;
}

/// Sub-axes of one axis that follow each other as one.
static llvm::SmallVector<SubAxis, 2> joinNeighbours(ArrayRef<SubAxis> subAxes) {
  llvm::SmallVector<SubAxis, 2> joined;
  for (const SubAxis& subAxis : subAxes) {
    bool follows = !joined.empty() && joined.back().axis == subAxis.axis &&
                   joined.back().before * joined.back().size == subAxis.before;
    if (follows)
      joined.back().size *= subAxis.size;
    else
      joined.push_back(subAxis);
  }
  return joined;
}

std::optional<llvm::SmallVector<SubAxis, 2>> findGroupSubAxes(ArrayRef<int64_t> sizes,
                                                              ArrayRef<SmallVector<int64_t>> groups) {
  // The cuts of axes one after another: all combinations.
  std::vector<SubAxes> cuts(1);
  for (unsigned axis = 0; axis < sizes.size(); ++axis) {
    std::vector<SubAxes> next;
    for (const SubAxes& cut : cuts)
      for (const std::vector<int64_t>& factors : factorOrders(sizes[axis])) {
        next.push_back(cut);
        next.back().add(axis, factors);
      }
    cuts = std::move(next);
  }
  for (const SubAxes& cut : cuts) {
    std::optional<AxisOrder> order = findGroupAxes(cut.sizes, groups);
    if (!order) continue;
    llvm::SmallVector<SubAxis, 2> subAxes;
    for (unsigned index : *order) subAxes.push_back(cut.subAxes[index]);
    return joinNeighbours(subAxes);
  }
  return std::nullopt;
}

std::optional<AxisPairs> findPairAxes(ArrayRef<int64_t> sizes, ArrayRef<int64_t> pairs) {
  Coordinates mesh(sizes);
  AxisPairs result;
  for (int64_t rank : pairs)
    if (!mesh.isRank(rank)) return std::nullopt;
  // Ranks outside of the pairs may have coordinates of their own: those axes matter too.
  std::set<std::pair<int64_t, int64_t>> all;
  for (size_t i = 0; i < pairs.size(); i += 2) all.insert({pairs[i], pairs[i + 1]});
  auto isInvariant = [&](unsigned axis) {
    unsigned axes[] = {axis};
    int64_t stride = 1;
    for (unsigned later = axis + 1; later < sizes.size(); ++later) stride *= sizes[later];
    for (auto [source, target] : all) {
      if (mesh.get(source, axis) != mesh.get(target, axis)) return false;
      for (int64_t step = 0; step < sizes[axis]; ++step)
        if (!all.count({mesh.getBase(source, axes) + step * stride, mesh.getBase(target, axes) + step * stride}))
          return false;
    }
    return true;
  };
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    if (!isInvariant(axis)) result.axes.push_back(axis);
  std::set<std::pair<int64_t, int64_t>> projected;
  for (auto [source, target] : all)
    projected.insert({mesh.getIndex(source, result.axes), mesh.getIndex(target, result.axes)});
  for (auto [source, target] : projected) {
    result.pairs.push_back(source);
    result.pairs.push_back(target);
  }
  return result;
}

}  // namespace mlir::sgd
