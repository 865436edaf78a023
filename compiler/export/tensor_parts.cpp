// Rows are dealt out in tiles of equal size: row i is row i % tile of the ranks with the index i / tile. Shards of a
// row are rows of its tensor.
#include "compiler/export/tensor_parts.h"

#include "dialects/sgd/tensor_parts.h"

using namespace mlir;
using namespace mlir::sgd;

/// Shards dimension 0 of a tensor of `rank` dimensions, as a row's elements are.
static void addRowShards(artifact::TensorInfoT& type, const std::vector<artifact::AxisRef>& axes, size_t rank) {
  if (axes.empty()) return;
  for (size_t dim = 0; dim < rank; ++dim) type.sharding.push_back(std::make_unique<artifact::DimShardingT>());
  type.sharding[0]->axes = axes;
  for (const artifact::AxisRef& axis : axes) type.local_dims[0] /= axis.size();
}

FailureOr<std::vector<TensorPart>> mlir::sgd::getTensorParts(StringRef name, MemRefType buffer,
                                                             DictionaryAttr attributes, const artifact::Slice& slice,
                                                             MeshAttr mesh) {
  FailureOr<std::unique_ptr<artifact::TensorInfoT>> whole = getTensorInfo(buffer, attributes, mesh);
  if (failed(whole)) return failure();
  auto names = attributes ? attributes.getAs<ArrayAttr>(kPartNamesAttr) : ArrayAttr();
  std::vector<TensorPart> parts;
  if (!names) {
    parts.push_back({name.str(), std::move(*whole), std::make_unique<artifact::Slice>(slice)});
    return parts;
  }
  auto shapes = attributes.getAs<ArrayAttr>(kPartShapesAttr).getAsRange<DenseI64ArrayAttr>();
  uint64_t tile = buffer.getDimSize(0);
  uint64_t bytes = buffer.getDimSize(1) * llvm::divideCeil(buffer.getElementTypeBitWidth(), 8);
  for (auto [row, part] : llvm::enumerate(llvm::zip(names.getAsRange<StringAttr>(), shapes))) {
    auto [partName, shape] = part;
    auto type = std::make_unique<artifact::TensorInfoT>();
    type->element = (*whole)->element;
    type->global_dims.assign(shape.asArrayRef().begin(), shape.asArrayRef().end());
    type->local_dims = type->global_dims;
    if (!(*whole)->sharding.empty()) {
      type->owner = (*whole)->sharding[0]->axes;
      addRowShards(*type, (*whole)->sharding[1]->axes, shape.asArrayRef().size());
    }
    type->owner_index = type->owner.empty() ? 0 : row / tile;
    auto place = std::make_unique<artifact::Slice>(slice.space(), slice.offset() + row % tile * bytes, bytes);
    parts.push_back({partName.str(), std::move(type), std::move(place)});
  }
  return parts;
}
