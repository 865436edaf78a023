// Shardings written as tile assignments (`mhlo.sharding = "{devices=[2,1]<=[2]}"`, tile_sharding.h), in the form of
// `sdy`.
#ifndef SGD_FRONTENDS_STABLEHLO_PREPARE_TILE_SHARDINGS_H
#define SGD_FRONTENDS_STABLEHLO_PREPARE_TILE_SHARDINGS_H

#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/tile_sharding.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Dimensions listed by a `backend_config` such as "unspecified_dims=[0,1]": propagation chooses their sharding.
SmallVector<int64_t> parseUnspecifiedDims(StringRef config);

/// All tile assignments of a module, and the mesh that they imply, with axes axis_0, axis_1, ...
class TileShardings {
 public:
  explicit TileShardings(ModuleOp module) : module(module) {}

  /// Reads them and gives the module an `sdy.mesh`. Fails, having reported it, where no mesh has them all.
  LogicalResult createMesh();
  /// The axes over which a value annotated with `text` is in a manual region.
  SmallVector<StringAttr> getManualAxes(StringAttr text) const;
  /// `mhlo.sharding` becomes `sdy.sharding` on all ops, arguments and results.
  LogicalResult replaceAll();

 private:
  LogicalResult parse(Location loc, DictionaryAttr attributes);
  /// Calls `visitor(location, attributes, rank of the annotated value, setter)` for each annotation.
  LogicalResult visit(
      llvm::function_ref<LogicalResult(Location, DictionaryAttr, int64_t, llvm::function_ref<void(DictionaryAttr)>)>
          visitor);
  SmallVector<sdy::AxisRefAttr> convert(ArrayRef<DeviceSubAxis> subAxes) const;
  sdy::ShardingAttr convert(const TileSharding& tiles, int64_t rank, ArrayRef<int64_t> open) const;

  mutable ModuleOp module;
  llvm::MapVector<StringAttr, TileSharding> parsed;  // in their order in the module, for errors
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
};

}  // namespace mlir::sgd

#endif
