// Which bytes of a rank's memory hold values that are not finite, and where these come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "runtime/artifact/program_generated.h"

namespace sgd::guard {

// Positions in a list of sources. `nan` is where what is not a number begins, which may be behind the infinity that it
// is computed from; nothing where all is infinite.
struct Origin {
  size_t first = 0;
  std::optional<size_t> nan;

  bool operator==(const Origin&) const = default;
};

// Later entries replace earlier ones where they overlap.
class OriginMap {
 public:
  void Set(const artifact::Slice& slice, const Origin& origin);
  void Clear(const artifact::Slice& slice);
  // Copies the origin of `source` to `target`, of the same size.
  void Copy(const artifact::Slice& source, const artifact::Slice& target);
  // Of the first bytes of the slice that have one.
  std::optional<Origin> Find(const artifact::Slice& slice) const;

 private:
  struct Part {
    uint64_t end = 0;
    Origin origin;
  };
  using Parts = std::map<std::pair<artifact::Space, uint64_t>, Part>;  // by space and first byte, disjoint

  // The first part that ends behind the slice's begin.
  Parts::const_iterator FirstIn(const artifact::Slice& slice) const;

  Parts parts_;
};

}  // namespace sgd::guard
