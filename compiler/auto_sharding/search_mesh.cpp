#include "compiler/auto_sharding/search_mesh.h"

#include <set>

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;

std::vector<int64_t> mlir::sgd::getPrimeFactors(int64_t number) {
  std::vector<int64_t> factors;
  for (int64_t factor = 2; factor * factor <= number; ++factor)
    for (; number % factor == 0; number /= factor) factors.push_back(factor);
  if (number > 1) factors.push_back(number);
  return factors;
}

std::vector<SearchMesh> mlir::sgd::getMeshes(int64_t ranks) {
  std::vector<SearchMesh> meshes;
  for (std::vector<int64_t>& sizes : getFactorizations(ranks, 3)) meshes.push_back({sizes[2], sizes[1], sizes[0]});
  return meshes;
}

std::vector<std::vector<int64_t>> mlir::sgd::getNeighbourSizes(const std::vector<int64_t>& sizes) {
  std::vector<std::vector<int64_t>> neighbours;
  for (size_t from = 0; from < sizes.size(); ++from) {
    std::vector<int64_t> factors = getPrimeFactors(sizes[from]);
    factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
    for (size_t to = 0; to < sizes.size(); ++to)
      for (int64_t factor : factors) {
        if (from == to) continue;
        std::vector<int64_t>& neighbour = neighbours.emplace_back(sizes);
        neighbour[from] /= factor;
        neighbour[to] *= factor;
      }
  }
  return neighbours;
}

std::vector<SearchMesh> mlir::sgd::getNeighbours(const SearchMesh& mesh) {
  std::vector<SearchMesh> neighbours;
  for (std::vector<int64_t>& sizes : getNeighbourSizes(std::vector{mesh.data, mesh.model, mesh.stages}))
    neighbours.push_back({sizes[0], sizes[1], sizes[2]});
  return neighbours;
}

std::vector<std::vector<int64_t>> mlir::sgd::getFactorizations(int64_t ranks, size_t count) {
  if (count == 0) return ranks == 1 ? std::vector<std::vector<int64_t>>{{}} : std::vector<std::vector<int64_t>>{};
  if (count == 1) return {{ranks}};
  // Divisors in pairs, so that large numbers of ranks take a moment too.
  std::vector<int64_t> divisors;
  for (int64_t divisor = 1; divisor * divisor <= ranks; ++divisor)
    if (ranks % divisor == 0) {
      divisors.push_back(divisor);
      if (divisor * divisor != ranks) divisors.push_back(ranks / divisor);
    }
  llvm::sort(divisors);
  std::vector<std::vector<int64_t>> all;
  for (int64_t first : divisors)
    for (std::vector<int64_t>& rest : getFactorizations(ranks / first, count - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  return all;
}

std::vector<std::vector<int64_t>> mlir::sgd::getFirstFactorizations(int64_t ranks, size_t count, size_t most) {
  std::vector<std::vector<int64_t>> all;
  std::set<std::vector<int64_t>> known;
  auto add = [&](std::vector<int64_t> sizes) {
    if (all.size() < most && known.insert(sizes).second) all.push_back(std::move(sizes));
  };
  for (size_t axis = 0; axis < count; ++axis) {
    std::vector<int64_t> sizes(count, 1);
    sizes[axis] = ranks;
    add(std::move(sizes));
  }
  for (size_t next = 0; next < all.size() && all.size() < most; ++next)
    for (std::vector<int64_t>& sizes : getNeighbourSizes(std::vector(all[next]))) add(std::move(sizes));
  return all;
}
