// Several meshes over the same devices as one: axes of the others become axes of it, or parts of them; see prepare.h.
// Devices are numbered by their position in the program, so two meshes agree where an axis of the one runs over the
// same groups of devices, in the same order, as axes or parts of axes of the other one.
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "frontends/stablehlo/replica_groups.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

int64_t countDevices(sdy::MeshAttr mesh) {
  int64_t count = 1;
  for (int64_t size : mesh.getSizes())
    if (llvm::MulOverflow(count, size, count)) return -1;
  return count;
}

/// Devices by position; empty where the mesh's list is not a permutation.
SmallVector<int64_t> getDevices(sdy::MeshAttr mesh) {
  int64_t count = countDevices(mesh);
  SmallVector<int64_t> devices(mesh.getDeviceIds());
  if (devices.empty()) return llvm::to_vector(llvm::seq<int64_t>(0, count));
  SmallVector<bool> seen(count);
  for (int64_t device : devices) {
    if (static_cast<int64_t>(devices.size()) != count || device < 0 || device >= count || seen[device]) return {};
    seen[device] = true;
  }
  return devices;
}

/// Maps the axes of one mesh to those of another: to sub-axes, the major one first.
class MeshMap {
 public:
  using Parts = SmallVector<SubAxis, 2>;

  /// Nullopt when an axis of `from` is none of `to`.
  static std::optional<MeshMap> find(sdy::MeshAttr from, sdy::MeshAttr to);

  bool keepsAxesWhole() const;
  /// The axes that `ref`, of the mesh `from`, maps to; fails where a sub-axis would cut those that its axis maps to.
  FailureOr<SmallVector<sdy::AxisRefAttr>> apply(ArrayRef<sdy::AxisRefAttr> refs) const;

 private:
  /// The part behind a factor `before`, of `size` values, of what `parts` make up.
  static std::optional<Parts> take(ArrayRef<SubAxis> parts, int64_t before, int64_t size);

  sdy::MeshAttr from, to;
  SmallVector<Parts> axes;  // by axis of `from`
};

std::optional<MeshMap> MeshMap::find(sdy::MeshAttr from, sdy::MeshAttr to) {
  MeshMap map;
  map.from = from;
  map.to = to;
  map.axes.resize(from.getSizes().size());
  if (countDevices(from) == 1) return map;
  SmallVector<int64_t> devices = getDevices(from), targets = getDevices(to);
  if (devices.size() != targets.size() || devices.empty()) return std::nullopt;
  SmallVector<int64_t> positions(targets.size());
  for (auto [position, device] : llvm::enumerate(targets)) positions[device] = position;
  int64_t stride = devices.size(), count = devices.size();
  for (auto [size, parts] : llvm::zip(from.getSizes(), map.axes)) {
    stride /= size;
    if (size == 1) continue;
    SmallVector<SmallVector<int64_t>> groups;
    for (int64_t first = 0; first < count; ++first) {
      if (first / stride % size != 0) continue;
      SmallVector<int64_t>& group = groups.emplace_back();
      for (int64_t i = 0; i < size; ++i) group.push_back(positions[devices[first + i * stride]]);
    }
    auto found = findGroupSubAxes(to.getSizes(), groups);
    if (!found) return std::nullopt;
    parts = *found;
  }
  return map;
}

bool MeshMap::keepsAxesWhole() const {
  return llvm::all_of(axes, [&](const Parts& parts) {
    return llvm::all_of(parts, [&](const SubAxis& part) { return part.size == to.getSizes()[part.axis]; });
  });
}

std::optional<MeshMap::Parts> MeshMap::take(ArrayRef<SubAxis> parts, int64_t before, int64_t size) {
  Parts taken;
  for (SubAxis part : parts) {
    if (size == 1) break;
    // Skips the sub-axes before the one that is asked for, then cuts it out.
    int64_t skipped = std::min(before, part.size);
    if (before % skipped != 0 || part.size % skipped != 0) return std::nullopt;
    before /= skipped;
    part = {part.axis, part.before * skipped, part.size / skipped};
    if (part.size == 1) continue;
    int64_t used = std::min(size, part.size);
    if (size % used != 0 || part.size % used != 0) return std::nullopt;
    size /= used;
    taken.push_back({part.axis, part.before, used});
  }
  return size == 1 ? std::optional(taken) : std::nullopt;
}

FailureOr<SmallVector<sdy::AxisRefAttr>> MeshMap::apply(ArrayRef<sdy::AxisRefAttr> refs) const {
  Parts all;
  for (sdy::AxisRefAttr ref : refs) {
    const auto* name =
        llvm::find_if(from.getNames(), [&](StringAttr name) { return name.getValue() == ref.getName(); });
    if (name == from.getNames().end()) return failure();
    ArrayRef<SubAxis> axis = axes[name - from.getNames().begin()];
    std::optional<Parts> parts = ref.getSize() ? take(axis, ref.getPreSize(), ref.getSize()) : Parts(axis);
    if (!parts) return failure();
    for (const SubAxis& part : *parts) {
      bool continues =
          !all.empty() && all.back().axis == part.axis && all.back().before * all.back().size == part.before;
      if (continues)
        all.back().size *= part.size;
      else
        all.push_back(part);
    }
  }
  SmallVector<sdy::AxisRefAttr> result;
  for (const SubAxis& part : all) {
    bool isWhole = part.size == to.getSizes()[part.axis];
    result.push_back(sdy::AxisRefAttr::get(to.getContext(), to.getNames()[part.axis].getValue(),
                                           isWhole ? 0 : part.before, isWhole ? 0 : part.size));
  }
  return result;
}

/// Rewrites what refers to other meshes than `main`.
class MeshUnification {
 public:
  explicit MeshUnification(ModuleOp module) : module(module) {}

  LogicalResult run();

 private:
  /// The mesh that all others can be put on, whole axes by whole axes where there is one.
  sdy::MeshOp chooseMain();
  sdy::MeshAttr getMesh(Attribute reference) const;
  LogicalResult convertManualAxes(sdy::ManualComputationOp op);
  std::optional<Attribute> convert(sdy::ShardingAttr sharding);

  ModuleOp module;
  SmallVector<sdy::MeshOp> meshes;
  sdy::MeshOp main;
  llvm::MapVector<Attribute, MeshMap> maps;  // by mesh
  sdy::ShardingAttr unplaced;
};

sdy::MeshOp MeshUnification::chooseMain() {
  sdy::MeshOp possible;
  for (sdy::MeshOp candidate : meshes) {
    bool isPossible = true, isWhole = true;
    for (sdy::MeshOp other : meshes) {
      auto map = MeshMap::find(other.getMesh(), candidate.getMesh());
      isPossible &= map.has_value();
      isWhole &= map && map->keepsAxesWhole();
    }
    if (isPossible && isWhole) return candidate;
    if (isPossible && !possible) possible = candidate;
  }
  return possible;
}

sdy::MeshAttr MeshUnification::getMesh(Attribute reference) const {
  if (auto inlined = dyn_cast<sdy::MeshAttr>(reference)) return inlined;
  for (sdy::MeshOp op : meshes)
    if (op.getSymNameAttr() == cast<FlatSymbolRefAttr>(reference).getAttr()) return op.getMesh();
  return {};
}

std::optional<Attribute> MeshUnification::convert(sdy::ShardingAttr sharding) {
  auto found = maps.find(getMesh(sharding.getMesh()));
  if (found == maps.end()) return sharding;
  const MeshMap& map = found->second;
  SmallVector<sdy::DimShardingAttr> dims;
  auto convertAxes = [&](ArrayRef<sdy::AxisRefAttr> refs) {
    auto converted = map.apply(refs);
    if (failed(converted)) unplaced = sharding;
    return failed(converted) ? SmallVector<sdy::AxisRefAttr>() : *converted;
  };
  for (sdy::DimShardingAttr dim : sharding.getDims())
    dims.push_back(
        sdy::DimShardingAttr::get(module.getContext(), convertAxes(dim.getAxes()), dim.getIsOpen(), dim.getPriority()));
  return sdy::ShardingAttr::get(module.getContext(), FlatSymbolRefAttr::get(main.getSymNameAttr()), dims,
                                convertAxes(sharding.getReplicated()), convertAxes(sharding.getUnreduced()));
}

LogicalResult MeshUnification::convertManualAxes(sdy::ManualComputationOp op) {
  SmallVector<sdy::ShardingAttr> shardings(op.getInShardings().getShardings());
  llvm::append_range(shardings, op.getOutShardings().getShardings());
  if (shardings.empty()) return success();
  auto found = maps.find(getMesh(shardings.front().getMesh()));
  if (found == maps.end()) return success();
  SmallVector<StringAttr> names;
  for (StringAttr name : op.getManualAxes().getNames()) {
    auto axes = found->second.apply(sdy::AxisRefAttr::get(op.getContext(), name.getValue(), 0, 0));
    if (failed(axes) || llvm::any_of(*axes, [](sdy::AxisRefAttr axis) { return axis.getSize() != 0; }))
      return emitError(op.getLoc()) << "'sdy.manual_computation' is manual over the axis \"" << name.getValue()
                                    << "\", which is a part of an axis of the mesh '" << main.getSymName()
                                    << "'; give that mesh an axis for each part";
    for (sdy::AxisRefAttr axis : *axes) names.push_back(StringAttr::get(op.getContext(), axis.getName()));
  }
  op.setManualAxesAttr(sdy::ManualAxesAttr::get(op.getContext(), names));
  return success();
}

LogicalResult MeshUnification::run() {
  for (auto op : module.getOps<sdy::MeshOp>())
    if (!op.getMesh().getNames().empty()) meshes.push_back(op);
  auto differs = [&](sdy::MeshOp op) { return op.getMesh() != meshes.front().getMesh(); };
  if (meshes.empty() || llvm::none_of(meshes, differs)) return success();
  main = chooseMain();
  if (!main)
    return llvm::find_if(meshes, differs)->emitError("a second mesh, '")
           << llvm::find_if(meshes, differs)->getSymName() << "' beside '" << meshes.front().getSymName()
           << "', is not over the same devices cut in ways that nest; use axes of one mesh";
  for (sdy::MeshOp op : meshes)
    if (op.getMesh() != main.getMesh()) maps.insert({op.getMesh(), *MeshMap::find(op.getMesh(), main.getMesh())});
  WalkResult walked = module.walk([&](sdy::ManualComputationOp op) {
    return convertManualAxes(op).failed() ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walked.wasInterrupted()) return failure();
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](sdy::ShardingAttr sharding) { return convert(sharding); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true);
  if (unplaced)
    return emitError(module.getLoc()) << "the sharding " << unplaced << " is over parts of axes that the mesh '"
                                      << main.getSymName() << "' has not; use axes of one mesh";
  for (sdy::MeshOp op : meshes)
    if (op != main) op.erase();
  return success();
}

}  // namespace

LogicalResult mlir::sgd::unifyMeshes(ModuleOp module) { return MeshUnification(module).run(); }
