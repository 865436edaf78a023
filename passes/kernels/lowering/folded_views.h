// Transposes and reshapes around matmuls and convolutions, as layouts are folded in.
#ifndef SGD_PASSES_KERNELS_LOWERING_FOLDED_VIEWS_H
#define SGD_PASSES_KERNELS_LOWERING_FOLDED_VIEWS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// The sizes other than one, in order.
inline SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> shape) {
  return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
}

/// Erases ops of these classes below `root` that were folded or tried and that nothing uses any more.
template <typename... Views>
void eraseUnused(Operation* root) {
  SmallVector<Operation*> views;
  root->walk([&](Operation* op) {
    if (isa<Views...>(op)) views.push_back(op);
  });
  for (Operation* view : llvm::reverse(views))
    if (view->use_empty()) view->erase();
}

}  // namespace mlir::sgd

#endif
