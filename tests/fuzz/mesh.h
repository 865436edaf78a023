// Meshes and shardings at random, as text.
#ifndef SGD_TESTS_FUZZ_MESH_H
#define SGD_TESTS_FUZZ_MESH_H

#include <string>
#include <vector>

#include "tests/fuzz/choices.h"

namespace mlir::sgd::fuzz {

using Shape = std::vector<int64_t>;

/// One to three axes called x, y and z, of 1 to 8 ranks in all.
struct Mesh {
  std::vector<int64_t> sizes;

  static Mesh choose(Choices& choices);
  /// `["x"=2, "y"=4]`
  std::string print() const;
  /// `"y"`
  static std::string quote(unsigned axis);
  int64_t getNumRanks() const;
};

/// How much a family wants of what is rare.
struct ShardingOptions {
  unsigned unevenPercent = 10;  // of the axes that do not divide their dimension are used all the same
  unsigned partialPercent = 0;  // of the shardings are unreduced
};

/// Features of a generated program, for statistics.
struct Features {
  bool hasUneven = false;       // an axis that does not divide its dimension
  bool hasSeveralAxes = false;  // a tensor sharded over two axes, or a part of one

  void add(const Features& other) {
    hasUneven |= other.hasUneven;
    hasSeveralAxes |= other.hasSeveralAxes;
  }
};

/// A sharding of a tensor of `shape`: whole axes and parts of axes in any order, on any dimensions, some dimensions
/// open. Without the mesh's name: `[{"x":(1)2}, {?}], replicated={"y"}`.
std::string chooseSharding(Choices& choices, const Mesh& mesh, const Shape& shape, const ShardingOptions& options,
                           Features& features);

}  // namespace mlir::sgd::fuzz

#endif
