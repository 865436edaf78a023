// Elements and their rounding.
#include "reference/tensor.h"

#include <cstring>

using namespace mlir;
using namespace mlir::sgd::reference;

namespace mlir::sgd::reference {

int64_t flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [position, size] : llvm::zip_equal(index, shape)) flat = flat * size + position;
  return flat;
}

Tensor::Tensor(RankedTensorType type) : type(type) {
  if (isFloat())
    floats.assign(type.getNumElements(), 0.0);
  else
    integers.assign(type.getNumElements(), 0);
}

void Tensor::copy(int64_t to, const Tensor& from, int64_t at) {
  if (isFloat())
    floats[to] = from.floats[at];
  else
    integers[to] = from.integers[at];
}

void Tensor::setFloat(int64_t at, double value) { floats[at] = roundTo(value, element()); }

void Tensor::setInteger(int64_t at, int64_t value) { integers[at] = wrap(value, element()); }

static double toDouble(const APFloat& value) {
  APFloat wide = value;
  bool losesInfo;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return wide.convertToDouble();
}

void Tensor::fill(TypedAttr value) {
  if (isFloat())
    std::fill(floats.begin(), floats.end(), toDouble(cast<FloatAttr>(value).getValue()));
  else
    std::fill(integers.begin(), integers.end(), wrap(cast<IntegerAttr>(value).getValue().getSExtValue(), element()));
}

Tensor Tensor::fromConstant(ElementsAttr constant) {
  Tensor tensor(cast<RankedTensorType>(constant.getType()));
  if (tensor.isFloat()) {
    for (auto [i, value] : llvm::enumerate(constant.getValues<APFloat>())) tensor.floats[i] = toDouble(value);
  } else {
    for (auto [i, value] : llvm::enumerate(constant.getValues<APInt>()))
      tensor.integers[i] = wrap(value.getSExtValue(), tensor.element());
  }
  return tensor;
}

Tensor Tensor::fromBytes(RankedTensorType type, ArrayRef<char> bytes) {
  Tensor tensor(type);
  int64_t width = getElementBytes(tensor.element());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    if (auto element = dyn_cast<FloatType>(tensor.element()))
      tensor.floats[i] = toDouble(APFloat(element.getFloatSemantics(), APInt(element.getWidth(), bits, false, true)));
    else
      tensor.integers[i] = wrap(bits, tensor.element());
  }
  return tensor;
}

void Tensor::toBytes(MutableArrayRef<char> bytes) const {
  int64_t width = getElementBytes(element());
  for (int64_t i = 0; i < size(); ++i) {
    uint64_t bits = isFloat() ? 0 : static_cast<uint64_t>(integers[i]);
    if (isFloat()) {
      APFloat value(floats[i]);
      bool losesInfo;
      value.convert(cast<FloatType>(element()).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      bits = value.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
}

double roundTo(double value, Type type) {
  if (type.isF64()) return value;
  if (type.isF32()) return static_cast<float>(value);
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return toDouble(rounded);
}

int64_t wrap(int64_t value, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 1 ? value & 1 : bits == 64 ? value : llvm::SignExtend64(value, bits);
}

uint64_t asUnsigned(int64_t value, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

bool isSupportedElement(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64 && !isa<Float80Type>(type);
}

}  // namespace mlir::sgd::reference
