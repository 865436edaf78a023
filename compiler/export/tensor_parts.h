// The tensors that an argument or result is for the user: itself, or one for each row (dialects/sgd/tensor_parts.h).
#ifndef SGD_COMPILER_EXPORT_TENSOR_PARTS_H
#define SGD_COMPILER_EXPORT_TENSOR_PARTS_H

#include <memory>
#include <string>
#include <vector>

#include "compiler/export/export_types.h"

namespace mlir::sgd {

struct TensorPart {
  std::string name;
  std::unique_ptr<artifact::TensorInfoT> type;
  std::unique_ptr<artifact::Slice> slice;
};

/// Returns the tensors in `slice`, which holds `buffer`, an argument or result called `name`. Rows that are tensors of
/// their own are owned by the ranks that hold them. Fails where artifacts do not have the element type.
FailureOr<std::vector<TensorPart>> getTensorParts(StringRef name, MemRefType buffer, DictionaryAttr attributes,
                                                  const artifact::Slice& slice, MeshAttr mesh);

}  // namespace mlir::sgd

#endif
