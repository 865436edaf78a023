// As few blocks as the size allows, as even as can be, for the least padding.
#include "passes/spmd/compress/block_layout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::sgd;

/// Rows of blocks this long are computed in whole vectors.
static constexpr int64_t kVector = 16;

BlockLayout BlockLayout::get(int64_t elements, int64_t parts, int64_t mostBlock) {
  BlockLayout layout;
  layout.parts = parts;
  layout.part = llvm::divideCeil(elements, parts);
  layout.blocks = llvm::divideCeil(layout.part, mostBlock);
  if (layout.blocks == 0) return layout;
  layout.block = llvm::divideCeil(layout.part, layout.blocks);
  int64_t even = llvm::alignTo(layout.block, kVector);
  if (layout.blocks > 1 && even <= mostBlock) layout.block = even;
  return layout;
}

int64_t mlir::sgd::getSentInBlocks(int64_t elements, int64_t ranks, int64_t mostBlock, bool isScattered) {
  if (areSumsTakenByAll(ranks, isScattered))
    return (ranks - 1) * BlockLayout::get(elements, 1, mostBlock).getPartBytes();
  int64_t exchanges = isScattered ? 1 : 2;
  return exchanges * (ranks - 1) * BlockLayout::get(elements, ranks, mostBlock).getPartBytes();
}
