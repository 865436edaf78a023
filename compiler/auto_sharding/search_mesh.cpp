#include "compiler/auto_sharding/search_mesh.h"

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

std::vector<SearchMesh> mlir::sgd::getNeighbours(const SearchMesh& mesh) {
  std::vector<SearchMesh> neighbours;
  const std::vector<int64_t SearchMesh::*> axes = {&SearchMesh::data, &SearchMesh::model, &SearchMesh::stages};
  for (auto from : axes)
    for (auto to : axes) {
      if (from == to) continue;
      std::vector<int64_t> factors = getPrimeFactors(mesh.*from);
      factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
      for (int64_t factor : factors) {
        SearchMesh& neighbour = neighbours.emplace_back(mesh);
        neighbour.*from /= factor;
        neighbour.*to *= factor;
      }
    }
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
