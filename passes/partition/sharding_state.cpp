// Attribute and state conversions; axis names must be known to the mesh, which verifiers ensure.
#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

MeshSizes mlir::sgd::getMeshSizes(MeshAttr mesh) {
  MeshSizes sizes;
  for (MeshAxisAttr axis : mesh.getAxes()) sizes.push_back(axis.getSize());
  return sizes;
}

AxisPiece mlir::sgd::getPiece(MeshAttr mesh, AxisRefAttr ref) {
  unsigned axis = *mesh.getAxisIndex(ref.getName());
  if (ref.isWholeAxis()) return {axis, 1, mesh.getAxes()[axis].getSize()};
  return {axis, ref.getPreSize(), ref.getSize()};
}

AxisPieces mlir::sgd::getPieces(MeshAttr mesh, ArrayRef<AxisRefAttr> refs) {
  AxisPieces pieces;
  for (AxisRefAttr ref : refs) pieces.push_back(getPiece(mesh, ref));
  return joinPieces(pieces);
}

ShardState mlir::sgd::getShardState(MeshAttr mesh, ShardingAttr sharding) {
  ShardState state;
  for (DimShardingAttr dim : sharding.getDims()) state.dims.push_back(getPieces(mesh, dim.getAxes()));
  state.partial = getPieces(mesh, sharding.getUnreduced());
  return state;
}

AxisListAttr mlir::sgd::getAxisList(FlatSymbolRefAttr name, MeshAttr mesh, ArrayRef<AxisPiece> pieces) {
  MLIRContext *context = mesh.getContext();
  SmallVector<AxisRefAttr> refs;
  for (const AxisPiece &piece : pieces) {
    MeshAxisAttr axis = mesh.getAxes()[piece.axis];
    bool isWhole = piece.size == axis.getSize();
    refs.push_back(AxisRefAttr::get(context, axis.getName(), isWhole ? 0 : piece.preSize, isWhole ? 0 : piece.size));
  }
  return AxisListAttr::get(context, name, refs);
}

uint64_t mlir::sgd::getElementBytes(Type elementType) { return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8); }

uint64_t mlir::sgd::getTensorBytes(RankedTensorType type) { return type.getNumElements() * getElementBytes(type.getElementType()); }
