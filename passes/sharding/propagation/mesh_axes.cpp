// Conversion of sharding attributes to axis parts and back; attributes are verified against the
// mesh before they come here.
#include "passes/sharding/propagation/mesh_axes.h"

using namespace mlir;
using namespace mlir::sgd;

AxisPart mlir::sgd::getPart(MeshAttr mesh, AxisRefAttr ref) {
  unsigned axis = *mesh.getAxisIndex(ref.getName());
  if (ref.isWholeAxis()) return {axis, 1, mesh.getAxes()[axis].getSize()};
  return {axis, ref.getPreSize(), ref.getSize()};
}

AxisParts mlir::sgd::getParts(MeshAttr mesh, ArrayRef<AxisRefAttr> refs) {
  AxisParts parts;
  for (AxisRefAttr ref : refs) appendMerged(parts, getPart(mesh, ref));
  return parts;
}

TensorAxes MeshAxes::toTensorAxes(ShardingAttr sharding) const {
  TensorAxes tensor;
  for (DimShardingAttr dim : sharding.getDims()) tensor.dims.push_back({toParts(dim.getAxes()), dim.getIsOpen()});
  tensor.replicated = toParts(sharding.getReplicated());
  tensor.unreduced = toParts(sharding.getUnreduced());
  return tensor;
}

AxisRefAttr mlir::sgd::getAxisRef(MeshAttr mesh, const AxisPart& part) {
  MeshAxisAttr axis = mesh.getAxes()[part.axis];
  bool isWhole = part.begin == 1 && part.size == axis.getSize();
  return AxisRefAttr::get(mesh.getContext(), axis.getName(), isWhole ? 0 : part.begin, isWhole ? 0 : part.size);
}

ShardingAttr MeshAxes::toAttr(const TensorAxes& tensor, ReduceKind unreducedKind) const {
  MLIRContext* context = mesh.getContext();
  SmallVector<DimShardingAttr> dims;
  for (const DimAxes& dim : tensor.dims) {
    SmallVector<AxisRefAttr> axes =
        llvm::map_to_vector(dim.axes, [&](const AxisPart& part) { return getAxisRef(mesh, part); });
    dims.push_back(DimShardingAttr::get(context, axes, /*isOpen=*/false, std::nullopt));
  }
  AxisParts unreduced = tensor.unreduced;
  llvm::sort(unreduced, [](const AxisPart& a, const AxisPart& b) {
    return std::tie(a.axis, a.begin) < std::tie(b.axis, b.begin);
  });
  unreduced = merged(unreduced);
  SmallVector<AxisRefAttr> unreducedRefs =
      llvm::map_to_vector(unreduced, [&](const AxisPart& part) { return getAxisRef(mesh, part); });
  return ShardingAttr::get(context, name, dims, /*replicated=*/{}, unreducedRefs,
                           unreduced.empty() ? ReduceKind::Add : unreducedKind);
}
