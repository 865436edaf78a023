// The meshes that a search looks at: every way to write a number of ranks as a product.
#ifndef SGD_COMPILER_AUTO_SHARDING_SEARCH_MESH_H
#define SGD_COMPILER_AUTO_SHARDING_SEARCH_MESH_H

#include <cstdint>
#include <vector>

namespace mlir::sgd {

/// Ranks by what they share: a batch, tensors, layers.
struct SearchMesh {
  int64_t data = 1, model = 1, stages = 1;

  bool operator==(const SearchMesh&) const = default;
};

/// Prime factors of `number` (at least 1), ascending, each as often as it divides.
std::vector<int64_t> getPrimeFactors(int64_t number);

/// All with `data * model * stages == ranks`; fewer stages first, then less on the model axis.
std::vector<SearchMesh> getMeshes(int64_t ranks);

/// Sizes of axes that differ from `sizes` by one prime factor, which is on another axis.
std::vector<std::vector<int64_t>> getNeighbourSizes(const std::vector<int64_t>& sizes);

/// Meshes that differ from `mesh` so.
std::vector<SearchMesh> getNeighbours(const SearchMesh& mesh);

/// All ordered products of `count` factors that are `ranks`.
std::vector<std::vector<int64_t>> getFactorizations(int64_t ranks, size_t count);

/// At most `most` of them: `ranks` is one of the factors, then their neighbours, and so on.
std::vector<std::vector<int64_t>> getFirstFactorizations(int64_t ranks, size_t count, size_t most);

}  // namespace mlir::sgd

#endif
