// Converts meshes and shardings; see sharding_import.h.
#include "frontends/stablehlo/sharding_import.h"

#include "dialects/sgd/mesh_name.h"
#include "frontends/stablehlo/prepare/tile_shardings.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr llvm::StringLiteral kTileSharding = "mhlo.sharding";

/// Fails for a mesh that MeshAttr refuses.
FailureOr<MeshAttr> convertMesh(Location loc, sdy::MeshAttr mesh) {
  SmallVector<MeshAxisAttr> axes;
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
    axes.push_back(MeshAxisAttr::get(mesh.getContext(), name, size));
  if (failed(MeshAttr::verify([&] { return emitError(loc); }, axes))) return failure();
  return MeshAttr::get(mesh.getContext(), axes);
}

/// Calls `visit(location, text)` for each `mhlo.sharding` of the module.
void walkTileShardings(ModuleOp module, function_ref<void(Location, StringRef)> visit) {
  auto visitIn = [&](Location loc, DictionaryAttr attributes) {
    if (auto text = attributes ? attributes.getAs<StringAttr>(kTileSharding) : StringAttr()) visit(loc, text);
  };
  module->walk([&](Operation* op) {
    visitIn(op->getLoc(), op->getDiscardableAttrDictionary());
    auto function = dyn_cast<FunctionOpInterface>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      visitIn(op->getLoc(), function.getArgAttrDict(i));
    for (unsigned i = 0; function && i < function.getNumResults(); ++i)
      visitIn(op->getLoc(), function.getResultAttrDict(i));
  });
}

/// True when propagation may choose everything: the annotation says nothing.
bool saysNothing(ShardingAttr sharding) {
  return sharding.getReplicated().empty() && sharding.getUnreduced().empty() &&
         llvm::all_of(sharding.getDims(), [](DimShardingAttr dim) { return dim.getIsOpen() && dim.getAxes().empty(); });
}

}  // namespace

LogicalResult ShardingImport::importMesh() {
  if (importNamedMeshes().failed()) return failure();
  return mesh ? success() : deriveMeshFromTiles();
}

LogicalResult ShardingImport::importNamedMeshes() {
  StringRef name;
  for (auto op : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>())) {
    sdy::MeshAttr attr = op.getMesh();
    namedMeshes[op.getSymNameAttr()] = attr;
    if (!attr.getNames().empty()) {
      FailureOr<MeshAttr> converted = convertMesh(op.getLoc(), attr);
      if (failed(converted)) return failure();
      if (mesh && mesh != *converted)
        return op.emitError("a second mesh, '")
               << op.getSymName() << "' beside '" << name << "', is not supported; use axes of one mesh";
      if (!mesh) {
        mesh = *converted;
        name = op.getSymNameAttr();
      }
    }
    op.erase();
  }
  if (mesh) createMesh(name);
  return success();
}

void ShardingImport::createMesh(StringRef name) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  meshName = FlatSymbolRefAttr::get(builder.getContext(), name);
  MeshOp::create(builder, module.getLoc(), builder.getStringAttr(name), mesh);
}

LogicalResult ShardingImport::deriveMeshFromTiles() {
  SmallVector<TileSharding> shardings;
  bool failedToParse = false;
  walkTileShardings(module, [&](Location loc, StringRef text) {
    llvm::Expected<TileSharding> sharding = parseTileSharding(text);
    if (sharding) {
      shardings.push_back(std::move(*sharding));
      return;
    }
    failedToParse = true;
    emitError(loc) << "sharding \"" << text << "\": " << llvm::toString(sharding.takeError());
  });
  if (failedToParse) return failure();
  llvm::erase_if(shardings, [](const TileSharding& sharding) { return sharding.isManual; });

  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  int64_t numDevices = partitions ? partitions.getInt() : 1;
  for (const TileSharding& sharding : shardings)
    if (!partitions && !sharding.isReplicated) numDevices = sharding.numDevices;
  if (numDevices < 1)
    return emitError(module.getLoc())
           << "mhlo.num_partitions is not positive; expected the number of devices; export the program again";
  // Without any sharding, all ranks of the one axis compute the same.
  if (shardings.empty() && numDevices == 1) return success();
  llvm::Expected<SmallVector<int64_t>> sizes = deriveMesh(shardings, numDevices);
  if (!sizes) return emitError(module.getLoc()) << "no mesh fits: " << llvm::toString(sizes.takeError());
  SmallVector<MeshAxisAttr> axes;
  for (auto [index, size] : llvm::enumerate(*sizes))
    axes.push_back(
        MeshAxisAttr::get(module.getContext(), StringAttr::get(module.getContext(), "axis_" + Twine(index)), size));
  if (failed(MeshAttr::verify([&] { return emitError(module.getLoc()); }, axes))) return failure();
  mesh = MeshAttr::get(module.getContext(), axes);
  createMesh(kMeshName);
  return success();
}

FailureOr<ShardingAttr> ShardingImport::find(DictionaryAttr attributes, unsigned index, unsigned count,
                                             RankedTensorType type, Location loc, const Twine& what) {
  if (!attributes) return ShardingAttr();
  if (auto sharding = attributes.getAs<sdy::ShardingAttr>("sdy.sharding")) return convert(sharding, type, loc, what);
  if (auto perValue = attributes.getAs<sdy::ShardingPerValueAttr>("sdy.sharding")) {
    if (perValue.getShardings().size() != count)
      return emitError(loc) << what << ": has " << perValue.getShardings().size() << " shardings for " << count
                            << " values; expected one for each; give as many";
    return convert(perValue.getShardings()[index], type, loc, what);
  }
  auto text = attributes.getAs<StringAttr>(kTileSharding);
  if (!text) return ShardingAttr();
  if (count != 1)
    return emitError(loc) << what << ": '" << kTileSharding
                          << "' on an op with several results is not supported; expected one result; annotate the "
                             "results by 'sdy.sharding_constraint'";
  auto config = attributes.getAs<StringAttr>("backend_config");
  return convertTiles(text, config ? config.getValue() : StringRef(), type, loc, what);
}

FailureOr<SmallVector<AxisRefAttr>> ShardingImport::convertAxes(ArrayRef<sdy::AxisRefAttr> axes, Location loc,
                                                                const Twine& what) {
  SmallVector<AxisRefAttr> converted;
  for (sdy::AxisRefAttr axis : axes) {
    std::optional<int64_t> size = mesh.getAxisSize(axis.getName());
    if (!size)
      return emitError(loc) << what << ": sharding names the unknown axis \"" << axis.getName() << "\"; the mesh is "
                            << mesh;
    // The product of a sub-axis is checked before it is formed: the text may hold any number.
    if (axis.getSize() &&
        (axis.getPreSize() > *size / axis.getSize() || *size % (axis.getPreSize() * axis.getSize()) != 0))
      return emitError(loc) << what << ": sub-axis \"" << axis.getName() << "\":(" << axis.getPreSize() << ")"
                            << axis.getSize() << " does not divide the axis of size " << *size
                            << "; expected sizes whose product divides it; correct the sub-axis";
    converted.push_back(AxisRefAttr::get(module.getContext(), axis.getName(), axis.getPreSize(), axis.getSize()));
  }
  return converted;
}

FailureOr<ShardingAttr> ShardingImport::convert(sdy::ShardingAttr sharding, RankedTensorType type, Location loc,
                                                const Twine& what) {
  sdy::MeshAttr named = dyn_cast<sdy::MeshAttr>(sharding.getMesh());
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(sharding.getMesh())) {
    named = namedMeshes.lookup(symbol.getAttr());
    if (!named)
      return emitError(loc) << what << ": sharding names the unknown mesh " << symbol
                            << "; expected a mesh of this module; declare it by 'sdy.mesh'";
  }
  if (named.getNames().empty() && !named.getDeviceIds().empty())
    return emitError(loc) << what
                          << ": placing a value on one device is not supported; replicate it or "
                             "give it axes of a mesh";
  FailureOr<MeshAttr> converted = convertMesh(loc, named);
  if (failed(converted)) return failure();
  if (!named.getNames().empty() && *converted != mesh)
    return emitError(loc) << what << ": a second mesh is not supported; use axes of one mesh";
  if (!mesh) return ShardingAttr();

  SmallVector<DimShardingAttr> dims;
  for (sdy::DimShardingAttr dim : sharding.getDims()) {
    FailureOr<SmallVector<AxisRefAttr>> axes = convertAxes(dim.getAxes(), loc, what);
    if (failed(axes)) return failure();
    dims.push_back(DimShardingAttr::get(module.getContext(), *axes, dim.getIsOpen(), dim.getPriority()));
  }
  FailureOr<SmallVector<AxisRefAttr>> replicated = convertAxes(sharding.getReplicated(), loc, what);
  FailureOr<SmallVector<AxisRefAttr>> unreduced = convertAxes(sharding.getUnreduced(), loc, what);
  if (failed(replicated) || failed(unreduced)) return failure();
  auto result = ShardingAttr::get(module.getContext(), meshName, dims, *replicated, *unreduced, ReduceKind::Add);
  if (result.verifyAgainst(mesh, type.getShape(), [&] { return emitError(loc) << what << ": "; }).failed())
    return failure();
  return saysNothing(result) ? ShardingAttr() : result;
}

FailureOr<ShardingAttr> ShardingImport::convertTiles(StringRef text, StringRef unspecifiedDims, RankedTensorType type,
                                                     Location loc, const Twine& what) {
  if (!namedMeshes.empty() && mesh)
    return emitError(loc) << what << ": '" << kTileSharding
                          << "' stands beside a mesh of 'sdy'; expected one kind of annotation; export with Shardy "
                             "alone (jax_use_shardy_partitioner), or without it";
  llvm::Expected<TileSharding> tiles = parseTileSharding(text);
  if (!tiles) return emitError(loc) << what << ": sharding \"" << text << "\": " << llvm::toString(tiles.takeError());
  if (tiles->isManual || !tiles->manual.empty())
    return emitError(loc) << what << ": sharding \"" << text
                          << "\" is for a manual region, and the program has none; use jax.shard_map";
  if (tiles->isReplicated) return ShardingAttr::getReplicated(module.getContext(), meshName, type.getRank());
  SmallVector<int64_t> sizes;
  for (MeshAxisAttr axis : mesh.getAxes()) sizes.push_back(axis.getSize());
  SmallVector<int64_t> open = parseUnspecifiedDims(unspecifiedDims);
  SmallVector<DimShardingAttr> dims;
  for (auto [dim, subAxes] : llvm::enumerate(tiles->dims)) {
    SmallVector<AxisRefAttr> axes;
    for (DeviceSubAxis subAxis : subAxes)
      for (int64_t axis : findAxes(subAxis, sizes))
        axes.push_back(AxisRefAttr::get(module.getContext(), mesh.getAxes()[axis].getName()));
    dims.push_back(
        DimShardingAttr::get(module.getContext(), axes, llvm::is_contained(open, int64_t(dim)), std::nullopt));
  }
  auto result = ShardingAttr::get(module.getContext(), meshName, dims, {}, {}, ReduceKind::Add);
  if (result.verifyAgainst(mesh, type.getShape(), [&] { return emitError(loc) << what << ": "; }).failed())
    return failure();
  return saysNothing(result) ? ShardingAttr() : result;
}
