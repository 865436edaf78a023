// Elements of tensors in an archive.
#ifndef SGD_FRONTENDS_TORCH_STORED_TENSOR_H
#define SGD_FRONTENDS_TORCH_STORED_TENSOR_H

#include "frontends/torch/exported_program.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::sgd::torch {

using ReadMember = llvm::function_ref<llvm::Expected<std::string>(llvm::StringRef)>;

/// Returns the elements in row-major order, as in memory. Fails if the member is missing, or shorter than sizes and
/// strides say.
llvm::Expected<std::string> readElements(const StoredTensor& stored, ReadMember readMember);

/// Bytes of an element; 0 for types that are not supported.
int64_t getElementBytes(int scalarType);
/// The name of the type in safetensors files, "F32"; empty for types that are not supported.
llvm::StringRef getTypeName(int scalarType);

}  // namespace mlir::sgd::torch

#endif
