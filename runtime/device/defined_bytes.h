// A set of bytes of all spaces, as disjoint intervals.
#pragma once

#include <cstdint>
#include <map>

#include "runtime/artifact/program_generated.h"

namespace sgd::device {

class DefinedBytes {
 public:
  void Add(const artifact::Slice& slice);

  // How many bytes of the slice are not in the set.
  uint64_t Missing(const artifact::Slice& slice) const;

 private:
  std::map<artifact::Space, std::map<uint64_t, uint64_t>> spaces_;  // begin to end
};

}  // namespace sgd::device
