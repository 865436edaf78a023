// Tensors of the reference evaluator: every element as a double or a 64-bit integer, whatever the element type.
#ifndef SGD_REFERENCE_TENSOR_H
#define SGD_REFERENCE_TENSOR_H

#include "dialects/sgd/tensor_layout.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::sgd::reference {

using Index = SmallVector<int64_t, 6>;

/// Position of `index` in row-major order.
int64_t flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape);

/// Calls `visit(index, flat)` for every element of `shape` in row-major order.
template <typename Visit>
void forEachIndex(ArrayRef<int64_t> shape, Visit visit) {
  Index index(shape.size(), 0);
  if (llvm::is_contained(shape, 0)) return;
  for (int64_t flat = 0;; ++flat) {
    visit(ArrayRef<int64_t>(index), flat);
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim]) index[dim--] = 0;
    if (dim < 0) return;
  }
}

/// Row-major elements. Floats are rounded to the element type; integers are wrapped to its width and sign-extended,
/// booleans are 0 and 1.
struct Tensor {
  RankedTensorType type;
  std::vector<double> floats;     // of floating-point types
  std::vector<int64_t> integers;  // of integer types

  Tensor() = default;
  /// All zero. The encoding of `type`, if any, has no meaning here.
  explicit Tensor(RankedTensorType type);

  int64_t size() const { return type.getNumElements(); }
  int64_t rank() const { return type.getRank(); }
  ArrayRef<int64_t> shape() const { return type.getShape(); }
  Type element() const { return type.getElementType(); }
  bool isFloat() const { return isa<FloatType>(element()); }

  /// Element `to` becomes element `at` of `from`, which has the same element type.
  void copy(int64_t to, const Tensor& from, int64_t at);
  /// Sets an element to a value that is rounded or wrapped to the element type.
  void setFloat(int64_t at, double value);
  void setInteger(int64_t at, int64_t value);
  void fill(TypedAttr value);

  static Tensor fromConstant(ElementsAttr constant);

  /// Elements as in memory, row-major, little-endian; a boolean is a byte. The number of bytes must be
  /// `getByteSize(type)`.
  static Tensor fromBytes(RankedTensorType type, ArrayRef<char> bytes);
  void toBytes(MutableArrayRef<char> bytes) const;
};

/// `value` rounded to the nearest value of `type`, ties to even.
double roundTo(double value, Type type);
/// The low bits of `value` that `type` has, sign-extended.
int64_t wrap(int64_t value, Type type);
/// The bits of a wrapped `value` read without a sign.
uint64_t asUnsigned(int64_t value, Type type);

/// True for the element types that the evaluator knows: floats of up to 64 bits, integers of up to 64 bits.
bool isSupportedElement(Type type);

}  // namespace mlir::sgd::reference

#endif
