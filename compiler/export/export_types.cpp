// Element types, shardings and constants in the artifact's terms.
#include "compiler/export/export_types.h"

#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stage_rows.h"
#include "dialects/sgd/complex_pairs.h"
#include "dialects/sgd/input_attrs.h"

using namespace mlir;
using namespace mlir::sgd;
using artifact::ElementType;

std::optional<ElementType> mlir::sgd::getElementType(Type scalar, bool isUnsigned) {
  if (isa<Float8E4M3FNType>(scalar)) return ElementType::F8E4M3FN;
  if (isa<Float8E5M2Type>(scalar)) return ElementType::F8E5M2;
  if (scalar.isF16()) return ElementType::F16;
  if (scalar.isBF16()) return ElementType::BF16;
  if (scalar.isF32()) return ElementType::F32;
  if (scalar.isF64()) return ElementType::F64;
  auto integer = dyn_cast<IntegerType>(scalar);
  if (!integer) return std::nullopt;
  switch (integer.getWidth()) {
    case 1:
      return ElementType::Bool;
    case 8:
      return isUnsigned ? ElementType::U8 : ElementType::I8;
    case 16:
      return isUnsigned ? ElementType::U16 : ElementType::I16;
    case 32:
      return isUnsigned ? ElementType::U32 : ElementType::I32;
    case 64:
      return isUnsigned ? ElementType::U64 : ElementType::I64;
    default:
      return std::nullopt;
  }
}

std::vector<artifact::AxisRef> mlir::sgd::getAxisRefs(ArrayRef<AxisRefAttr> axes, MeshAttr mesh) {
  std::vector<artifact::AxisRef> refs;
  for (AxisRefAttr axis : axes) {
    unsigned index = mesh.getAxisIndex(axis.getName()).value_or(0);
    bool isWhole = axis.isWholeAxis();
    refs.emplace_back(index, isWhole ? 1 : axis.getPreSize(),
                      isWhole ? *mesh.getAxisSize(axis.getName()) : axis.getSize());
  }
  return refs;
}

/// Pairs of f32 along a last dimension, which is whole, are complex numbers without it.
static void joinPairs(artifact::TensorInfoT& info) {
  info.element = ElementType::C64;
  info.global_dims.pop_back();
  info.local_dims.pop_back();
  if (!info.sharding.empty()) info.sharding.pop_back();
}

FailureOr<std::unique_ptr<artifact::TensorInfoT>> mlir::sgd::getTensorInfo(MemRefType buffer, DictionaryAttr attributes,
                                                                           MeshAttr mesh) {
  auto tensor = attributes ? attributes.getAs<plan::TensorAttr>(plan::kTensorAttr) : plan::TensorAttr();
  std::optional<ElementType> element = getElementType(buffer.getElementType(), tensor && tensor.getIsUnsigned());
  if (!element) return failure();
  auto info = std::make_unique<artifact::TensorInfoT>();
  info->element = *element;
  ArrayRef<int64_t> global = tensor ? tensor.getGlobalShape() : buffer.getShape();
  info->global_dims.assign(global.begin(), global.end());
  info->local_dims.assign(buffer.getShape().begin(), buffer.getShape().end());
  auto blocks = attributes ? attributes.getAs<DenseI64ArrayAttr>(kBlocksAttr) : DenseI64ArrayAttr();
  bool isSharded = tensor && tensor.getSharding() && (blocks || !tensor.getSharding().isFullyReplicated());
  for (auto [index, dim] : llvm::enumerate(isSharded ? tensor.getSharding().getDims() : ArrayRef<DimShardingAttr>())) {
    auto sharding = std::make_unique<artifact::DimShardingT>();
    sharding->axes = getAxisRefs(dim.getAxes(), mesh);
    if (blocks) sharding->blocks = blocks[index];
    info->sharding.push_back(std::move(sharding));
  }
  if (auto rows = attributes ? attributes.getAs<DenseI64ArrayAttr>(kRowsAttr) : DenseI64ArrayAttr())
    for (int64_t i = 0; i + 1 < rows.size(); i += 2) info->rows.emplace_back(rows[i], rows[i + 1]);
  if (attributes && attributes.contains(kComplexAttr)) joinPairs(*info);
  info->summands = attributes && attributes.contains(kSummandsAttr);
  return info;
}

static void append(std::string& bytes, const APInt& value) {
  unsigned size = llvm::divideCeil(value.getBitWidth(), 8);
  for (unsigned byte = 0; byte < size; ++byte)
    bytes.push_back(
        static_cast<char>(value.extractBitsAsZExtValue(std::min(8u, value.getBitWidth() - byte * 8), byte * 8)));
}

std::string mlir::sgd::getConstantBytes(DenseElementsAttr elements) {
  std::string bytes;
  // The raw form is the memory form except for booleans, which it packs, and splats, which it keeps once.
  if (!elements.isSplat() && !elements.getElementType().isInteger(1)) {
    ArrayRef<char> raw = elements.getRawData();
    return std::string(raw.begin(), raw.end());
  }
  if (isa<FloatType>(elements.getElementType())) {
    for (const APFloat& value : elements.getValues<APFloat>()) append(bytes, value.bitcastToAPInt());
  } else {
    for (const APInt& value : elements.getValues<APInt>()) append(bytes, value);
  }
  return bytes;
}

std::vector<uint8_t> mlir::sgd::getPattern(TypedAttr scalar) {
  std::string bytes;
  if (auto number = dyn_cast<FloatAttr>(scalar)) append(bytes, number.getValue().bitcastToAPInt());
  if (auto number = dyn_cast<IntegerAttr>(scalar)) append(bytes, number.getValue());
  return {bytes.begin(), bytes.end()};
}
