// Shardings written as tile assignments, in the form of `sdy`: on a mesh that all of them imply.
#include "frontends/stablehlo/prepare/tile_shardings.h"

#include "dialects/sgd/mesh_name.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr llvm::StringLiteral kTileSharding = "mhlo.sharding", kSharding = "sdy.sharding";

int64_t getRank(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : 0;
}

}  // namespace

SmallVector<int64_t> mlir::sgd::parseUnspecifiedDims(StringRef config) {
  SmallVector<int64_t> dims;
  if (!config.consume_front("unspecified_dims=[")) return dims;
  int64_t dim;
  while (!config.consumeInteger(10, dim)) {
    dims.push_back(dim);
    config.consume_front(",");
  }
  return dims;
}

LogicalResult TileShardings::parse(Location loc, DictionaryAttr attributes) {
  auto text = attributes ? attributes.getAs<StringAttr>(kTileSharding) : StringAttr();
  if (!text || parsed.count(text)) return success();
  llvm::Expected<TileSharding> sharding = parseTileSharding(text);
  if (!sharding) return emitError(loc) << "sharding " << text << ": " << llvm::toString(sharding.takeError());
  parsed.try_emplace(text, std::move(*sharding));
  return success();
}

LogicalResult TileShardings::visit(
    llvm::function_ref<LogicalResult(Location, DictionaryAttr, int64_t rank, llvm::function_ref<void(DictionaryAttr)>)>
        visitor) {
  WalkResult walked = module.walk([&](Operation* op) {
    LogicalResult visited = success();
    auto visitOne = [&](DictionaryAttr attributes, Type type, llvm::function_ref<void(DictionaryAttr)> set) {
      if (succeeded(visited) && attributes && attributes.contains(kTileSharding))
        visited = visitor(op->getLoc(), attributes, getRank(type), set);
    };
    visitOne(op->getAttrDictionary(),
             op->getNumResults() ? op->getResult(0).getType() : Type(NoneType::get(op->getContext())),
             [&](DictionaryAttr changed) { op->setAttrs(changed); });
    auto function = dyn_cast<FunctionOpInterface>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      visitOne(function.getArgAttrDict(i), function.getArgumentTypes()[i],
               [&](DictionaryAttr changed) { function.setArgAttrs(i, changed); });
    for (unsigned i = 0; function && i < function.getNumResults(); ++i)
      visitOne(function.getResultAttrDict(i), function.getResultTypes()[i],
               [&](DictionaryAttr changed) { function.setResultAttrs(i, changed); });
    return failed(visited) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult TileShardings::createMesh() {
  if (visit([&](Location loc, DictionaryAttr attributes, int64_t, auto) { return parse(loc, attributes); }).failed())
    return failure();
  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  SmallVector<TileSharding> all;
  for (auto& [text, sharding] : parsed) all.push_back(sharding);
  int64_t numDevices = partitions ? partitions.getInt() : 1;
  for (const TileSharding& sharding : all)
    if (!partitions && !sharding.isReplicated && !sharding.isManual) numDevices = sharding.numDevices;
  if (numDevices < 1)
    return emitError(module.getLoc())
           << "mhlo.num_partitions is not positive; expected the number of devices; export the program again";
  llvm::Expected<SmallVector<int64_t>> derived = deriveMesh(all, numDevices);
  if (!derived) return emitError(module.getLoc()) << "no mesh fits: " << llvm::toString(derived.takeError());
  sizes = *derived;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    names.push_back(StringAttr::get(module.getContext(), "axis_" + Twine(axis)));
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto mesh = sdy::MeshAttr::get(module.getContext(), names, sizes, {});
  sdy::MeshOp::create(builder, module.getLoc(), builder.getStringAttr(kMeshName), mesh);
  return success();
}

SmallVector<sdy::AxisRefAttr> TileShardings::convert(ArrayRef<DeviceSubAxis> subAxes) const {
  SmallVector<sdy::AxisRefAttr> axes;
  for (DeviceSubAxis subAxis : subAxes)
    for (int64_t axis : findAxes(subAxis, sizes))
      axes.push_back(sdy::AxisRefAttr::get(module.getContext(), names[axis].getValue(), 0, 0));
  return axes;
}

sdy::ShardingAttr TileShardings::convert(const TileSharding& tiles, int64_t rank, ArrayRef<int64_t> open) const {
  SmallVector<sdy::DimShardingAttr> dims;
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto axes =
        dim < static_cast<int64_t>(tiles.dims.size()) ? convert(tiles.dims[dim]) : SmallVector<sdy::AxisRefAttr>();
    dims.push_back(sdy::DimShardingAttr::get(module.getContext(), axes, llvm::is_contained(open, dim), std::nullopt));
  }
  return sdy::ShardingAttr::get(module.getContext(), FlatSymbolRefAttr::get(module.getContext(), kMeshName), dims, {},
                                {});
}

SmallVector<StringAttr> TileShardings::getManualAxes(StringAttr text) const {
  auto found = parsed.find(text);
  if (found == parsed.end()) return {};
  if (found->second.isManual) return names;
  SmallVector<StringAttr> axes;
  for (sdy::AxisRefAttr axis : convert(found->second.manual))
    axes.push_back(StringAttr::get(module.getContext(), axis.getName()));
  return axes;
}

LogicalResult TileShardings::replaceAll() {
  return visit(
      [&](Location loc, DictionaryAttr attributes, int64_t rank, llvm::function_ref<void(DictionaryAttr)> set) {
        const TileSharding& tiles = parsed.find(attributes.getAs<StringAttr>(kTileSharding))->second;
        if (!tiles.isManual && !tiles.isReplicated && static_cast<int64_t>(tiles.dims.size()) != rank)
          return LogicalResult(emitError(loc) << "sharding " << attributes.get(kTileSharding) << " has "
                                              << tiles.dims.size() << " dimensions for a value of rank " << rank
                                              << "; expected one for each dimension; give a sharding of that rank");
        NamedAttrList changed(attributes);
        changed.erase(kTileSharding);
        auto config = attributes.getAs<StringAttr>("backend_config");
        SmallVector<int64_t> open = parseUnspecifiedDims(config ? config.getValue() : StringRef());
        // A value in a manual region over all axes needs no annotation.
        if (!tiles.isManual) changed.set(kSharding, convert(tiles, rank, open));
        set(changed.getDictionary(module.getContext()));
        return success();
      });
}
