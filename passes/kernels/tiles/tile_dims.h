// Which dimensions of the values in a group of contractions and clusters are one and the same, read off contraction
// labels and sharding rules.
#ifndef SGD_PASSES_KERNELS_TILES_TILE_DIMS_H
#define SGD_PASSES_KERNELS_TILES_TILE_DIMS_H

#include <optional>
#include <vector>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Dimensions that must be cut together.
struct DimClass {
  int64_t size = 1;
  bool isWhole = false;     ///< some op needs all of it
  bool isReduced = false;   ///< a cluster reduces over it
  bool isIndexed = false;   ///< an iota counts along it
  unsigned batchCount = 0;  ///< contractions of which it is a batch dimension
};

class TileDims {
 public:
  /// `ops` are fusion.matmul and fusion.cluster; values inside clusters have classes too.
  explicit TileDims(ArrayRef<Operation*> ops);

  /// The class of a dimension of a value that an op of the group reads or computes.
  unsigned getClass(Value value, int64_t dim) const { return find(nodes.lookup(value)[dim]); }
  const DimClass& operator[](unsigned number) const { return classes[number]; }
  /// The dimension of `value` that belongs to the class, or -1.
  int64_t getDim(Value value, unsigned number) const;
  bool has(Value value, unsigned number) const { return getDim(value, number) >= 0; }
  bool contains(Value value) const { return nodes.contains(value); }

 private:
  void addMatmul(Operation* op);
  void addCluster(Operation* op);
  void addInnerOp(Operation* op);
  ArrayRef<unsigned> getNodes(Value value);
  void unite(unsigned a, unsigned b);
  void uniteAll(Value a, Value b);
  void keepWhole(Value value);
  unsigned find(unsigned node) const;

  llvm::DenseMap<Value, SmallVector<unsigned, 4>> nodes;
  std::vector<unsigned> parents;
  std::vector<DimClass> classes;  // by root node
};

}  // namespace mlir::sgd

#endif
