// Views are copied element by element.
#include "frontends/torch/stored_tensor.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::sgd::torch;
using llvm::Twine;

int64_t mlir::sgd::torch::getElementBytes(int scalarType) {
  switch (static_cast<ScalarType>(scalarType)) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool:
      return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return 2;
    case ScalarType::Int:
    case ScalarType::Float:
      return 4;
    case ScalarType::Long:
    case ScalarType::Double:
      return 8;
  }
  return 0;
}

llvm::StringRef mlir::sgd::torch::getTypeName(int scalarType) {
  switch (static_cast<ScalarType>(scalarType)) {
    case ScalarType::Byte:
      return "U8";
    case ScalarType::Char:
      return "I8";
    case ScalarType::Short:
      return "I16";
    case ScalarType::Int:
      return "I32";
    case ScalarType::Long:
      return "I64";
    case ScalarType::Half:
      return "F16";
    case ScalarType::Float:
      return "F32";
    case ScalarType::Double:
      return "F64";
    case ScalarType::Bool:
      return "BOOL";
    case ScalarType::BFloat16:
      return "BF16";
  }
  return "";
}

/// The elements from the first to the last, which a view touches, counted from the offset; nullopt on overflow.
static std::optional<int64_t> getExtent(const StoredTensor& stored) {
  int64_t last = stored.offset;
  for (auto [size, stride] : llvm::zip(stored.sizes, stored.strides)) {
    if (size == 0) return 0;
    int64_t step = 0;
    if (size < 0 || stride < 0 || llvm::MulOverflow(size - 1, stride, step) || llvm::AddOverflow(last, step, last))
      return std::nullopt;
  }
  return last + 1;
}

llvm::Expected<std::string> mlir::sgd::torch::readElements(const StoredTensor& stored, ReadMember readMember) {
  llvm::Expected<std::string> bytes = readMember(stored.file);
  if (!bytes) return bytes.takeError();
  int64_t width = getElementBytes(stored.type), count = 1;
  std::optional<int64_t> extent = getExtent(stored);
  for (int64_t size : stored.sizes)
    if (llvm::MulOverflow(count, size, count)) extent = std::nullopt;
  auto available = static_cast<int64_t>(bytes->size()) / std::max<int64_t>(width, 1);
  // A view may repeat elements, but not without end.
  if (!extent || width == 0 || *extent > available || count > std::max<int64_t>(available, 1) * 1024)
    return llvm::createStringError("has " + Twine(bytes->size()) + " bytes in '" + stored.file +
                                   "', which is not what the tensor in it takes; export the model anew");
  if (stored.isRowMajor()) return bytes->substr(0, static_cast<size_t>(count * width));
  std::string elements;
  elements.reserve(static_cast<size_t>(count * width));
  std::vector<int64_t> index(stored.sizes.size(), 0);
  for (int64_t number = 0; number < count; ++number) {
    int64_t at = stored.offset;
    for (size_t dim = 0; dim < index.size(); ++dim) at += index[dim] * stored.strides[dim];
    elements.append(*bytes, static_cast<size_t>(at * width), static_cast<size_t>(width));
    for (size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < stored.sizes[dim]) break;
      index[dim] = 0;
    }
  }
  return elements;
}
