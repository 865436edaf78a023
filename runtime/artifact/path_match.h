// Pairs tensors of two lists by their paths: results of a step with its arguments, arguments of one program with those
// of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/artifact/tensor_path.h"

namespace sgd::artifact {

struct NamedTensor {
  TensorPath path;
  uint32_t type = 0;  // equal numbers stand for equal types: others do not pair
};

// Tensors below one prefix of the first list and one of the second, whose paths behind the prefixes are equal.
struct PathGroup {
  TensorPath from, to;                           // the prefixes
  std::vector<std::pair<size_t, size_t>> pairs;  // positions in the lists, by the first
};

struct PathMatch {
  std::vector<PathGroup> unique;  // no tensor stands in two of them
  std::vector<PathGroup> tied;    // several compete for a tensor; none of these stands in a unique one
};

// The longer the common end of two paths, the earlier they pair; of equally long ends each must be the only one of both
// tensors, or be below the prefixes of a pair that is, else they are tied. A leading index of a `from` path is its
// position in a tuple of results, which names nothing; so two paths of which nothing else is equal do not pair. Takes
// time in the number of pairs that share a type and a last part.
PathMatch MatchPaths(std::span<const NamedTensor> from, std::span<const NamedTensor> to);

}  // namespace sgd::artifact
