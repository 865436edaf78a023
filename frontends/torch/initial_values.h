// How the weights of an archive were drawn, so that training can start from others like them.
#ifndef SGD_FRONTENDS_TORCH_INITIAL_VALUES_H
#define SGD_FRONTENDS_TORCH_INITIAL_VALUES_H

#include <optional>

#include "frontends/torch/stored_tensor.h"

namespace mlir::sgd::torch {

/// Returns at most so many bytes from the start of a member of the archive.
using ReadStart = llvm::function_ref<llvm::Expected<std::string>(llvm::StringRef, uint64_t)>;

/// Returns the initializer (passes/graph/training/initializers.h) of a tensor whose elements are all equal. With
/// `isDrawn` other floats have one, too: the distribution that the first elements look like. Nothing where there is
/// none, or where the elements cannot be read.
std::optional<std::string> describeValues(const StoredTensor& stored, bool isDrawn, ReadStart readStart);

}  // namespace mlir::sgd::torch

#endif
