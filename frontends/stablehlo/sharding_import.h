// Meshes and shardings of the input program in the graph level's form.
#ifndef SGD_FRONTENDS_STABLEHLO_SHARDING_IMPORT_H
#define SGD_FRONTENDS_STABLEHLO_SHARDING_IMPORT_H

#include "dialects/sgd/sgd_dialect.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/tile_sharding.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

class ShardingImport {
 public:
  explicit ShardingImport(ModuleOp module) : module(module) {}

  /// Finds the program's mesh: that of its `sdy.mesh` ops, or the one that its `mhlo.sharding`
  /// strings imply (axes axis_0, axis_1, ...). Replaces `sdy.mesh` by `sgd.mesh`; a program without
  /// mesh gets none. Reports contradictions.
  LogicalResult importMesh();

  /// The sharding that `attributes` (of an argument, result or op) give value `index` of `count`,
  /// checked against mesh and `type`. Null where there is none or where it says nothing. Errors
  /// name `what` at `loc`.
  FailureOr<ShardingAttr> find(DictionaryAttr attributes, unsigned index, unsigned count, RankedTensorType type,
                               Location loc, const Twine& what);

  /// The sharding of an `sdy.sharding_constraint`.
  FailureOr<ShardingAttr> convert(sdy::ShardingAttr sharding, RankedTensorType type, Location loc, const Twine& what);

 private:
  LogicalResult importNamedMeshes();
  LogicalResult deriveMeshFromTiles();
  void createMesh(StringRef name);
  FailureOr<ShardingAttr> convertTiles(StringRef text, StringRef unspecifiedDims, RankedTensorType type, Location loc,
                                       const Twine& what);
  FailureOr<SmallVector<AxisRefAttr>> convertAxes(ArrayRef<sdy::AxisRefAttr> axes, Location loc, const Twine& what);

  ModuleOp module;
  MeshAttr mesh;
  FlatSymbolRefAttr meshName;
  DenseMap<StringAttr, sdy::MeshAttr> namedMeshes;
};

}  // namespace mlir::sgd

#endif
