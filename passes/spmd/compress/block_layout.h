// How the elements of a reduction are cut into blocks with one scale each; by plain numbers.
#ifndef SGD_PASSES_SPMD_COMPRESS_BLOCK_LAYOUT_H
#define SGD_PASSES_SPMD_COMPRESS_BLOCK_LAYOUT_H

#include <cstdint>

namespace mlir::sgd {

/// A rank's elements are `parts` x `part`; each part is padded to `blocks` x `block`.
struct BlockLayout {
  int64_t parts = 1, part = 0, blocks = 0, block = 0;

  /// Of `elements` in so many parts, the last of which may be shorter; blocks of at most `mostBlock` elements, which is
  /// positive.
  static BlockLayout get(int64_t elements, int64_t parts, int64_t mostBlock);

  int64_t getPadded() const { return blocks * block; }  ///< elements of a part
  /// Returns the bytes of a part: one for each element, and an f32 for each block.
  int64_t getPartBytes() const { return blocks * (block + 4); }
};

/// Whether each rank gets what all ranks send, and adds it up: for groups so small that others would not add up parts
/// for it with fewer bytes, and would take one exchange more.
inline bool areSumsTakenByAll(int64_t ranks, bool isScattered) { return ranks <= 2 && !isScattered; }

/// Bytes that a rank sends for the sum over `ranks` of `elements` elements, of which it needs its part alone if
/// `isScattered`.
int64_t getSentInBlocks(int64_t elements, int64_t ranks, int64_t mostBlock, bool isScattered);

}  // namespace mlir::sgd

#endif
