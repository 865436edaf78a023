// Parses tile assignments and derives meshes from them; see tile_sharding.h.
#include "frontends/stablehlo/tile_sharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir::sgd;

namespace {

template <typename... Args>
Error error(const char* format, Args... args) {
  return createStringError(inconvertibleErrorCode(), format, args...);
}

/// The remedy of many errors.
constexpr char kExample[] = "write it as JAX prints it, such as {devices=[2,1]<=[2]}";

/// Reads "[1,2,3]" from the front of `text`: positive numbers whose product can be counted.
Expected<SmallVector<int64_t>> consumeSizes(StringRef& text) {
  SmallVector<int64_t> sizes;
  int64_t product = 1;
  if (!text.consume_front("[")) return error("has \"%s\"; expected '['; %s", text.str().c_str(), kExample);
  do {
    int64_t size;
    if (text.consumeInteger(10, size) || size < 1 || MulOverflow(product, size, product))
      return error("has a size below 1, or more tiles than can be counted; expected positive sizes; %s", kExample);
    sizes.push_back(size);
  } while (text.consume_front(","));
  if (!text.consume_front("]")) return error("has \"%s\"; expected ']'; %s", text.str().c_str(), kExample);
  return sizes;
}

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) result *= size;
  return result;
}

/// Sub-axes, major first, of "<=[4,2]T(1,0)": the ids reshaped to the sizes, then transposed.
Expected<SmallVector<DeviceSubAxis>> consumeIota(StringRef& text) {
  Expected<SmallVector<int64_t>> sizes = consumeSizes(text);
  if (!sizes) return sizes.takeError();
  SmallVector<int64_t> order = to_vector(seq<int64_t>(0, sizes->size()));
  if (text.consume_front("T(")) {
    SmallVector<bool> seen(sizes->size(), false);
    for (auto [i, dim] : enumerate(order)) {
      if ((i && !text.consume_front(",")) || text.consumeInteger(10, dim) || dim < 0 || dim >= int64_t(sizes->size()) ||
          seen[dim])
        return error("has other dimensions after 'T('; expected each of 0 to %lld once; correct the permutation",
                     static_cast<long long>(sizes->size()) - 1);
      seen[dim] = true;
    }
    if (!text.consume_front(")")) return error("has \"%s\"; expected ')'; close the permutation", text.str().c_str());
  }
  SmallVector<DeviceSubAxis> subAxes;
  for (int64_t dim : order) subAxes.push_back({product(ArrayRef(*sizes).drop_front(dim + 1)), (*sizes)[dim]});
  return subAxes;
}

/// The value that `subAxes`, major first, give position `index`.
int64_t evaluate(ArrayRef<DeviceSubAxis> subAxes, int64_t index) {
  int64_t id = 0;
  for (const DeviceSubAxis& subAxis : reverse(subAxes)) {
    id += index % subAxis.size * subAxis.stride;
    index /= subAxis.size;
  }
  return id;
}

/// Sub-axes of an explicit list of ids, found from the minor end: each is the longest run of equal steps.
Expected<SmallVector<DeviceSubAxis>> consumeList(StringRef& text, int64_t numDevices) {
  SmallVector<int64_t> ids;
  do {
    if (text.consumeInteger(10, ids.emplace_back()) || ids.back() < 0 || ids.back() >= numDevices)
      return error("names a device that no tile is for; expected device ids from 0 to %lld; correct the list",
                   static_cast<long long>(numDevices) - 1);
  } while (text.consume_front(","));
  SmallVector<int64_t> sorted(ids);
  sort(sorted);
  if (int64_t(ids.size()) != numDevices || llvm::unique(sorted) != sorted.end())
    return error("lists %lld device ids, or one twice; expected %lld different ones; correct the list",
                 static_cast<long long>(ids.size()), static_cast<long long>(numDevices));
  SmallVector<DeviceSubAxis> minorFirst;
  for (int64_t block = 1; block < numDevices;) {
    int64_t step = ids[block] - ids[0], size = 2;
    while ((size + 1) * block <= numDevices && numDevices % (block * size) != 0) ++size;
    while (size * block < numDevices && ids[size * block] == ids[0] + size * step) ++size;
    minorFirst.push_back({step, size});
    block *= size;
  }
  SmallVector<DeviceSubAxis> subAxes(reverse(minorFirst));
  for (int64_t index = 0; index < numDevices; ++index)
    if (evaluate(subAxes, index) != ids[index])
      return error("has devices in an order that no mesh has; expected that of a mesh, transposed or not; %s",
                   kExample);
  return subAxes;
}

/// Takes the sub-axes of one tile dimension of `size` from the minor end of `subAxes`.
Expected<SmallVector<DeviceSubAxis, 2>> splitOff(SmallVectorImpl<DeviceSubAxis>& subAxes, int64_t size) {
  SmallVector<DeviceSubAxis, 2> taken;
  while (size > 1) {
    if (subAxes.empty()) return error("has more tiles than devices; expected as many; correct the tiles");
    DeviceSubAxis& last = subAxes.back();
    if (size % last.size == 0) {
      size /= last.size;
      if (last.size > 1) taken.push_back(last);
      subAxes.pop_back();
    } else if (last.size % size == 0) {
      taken.push_back({last.stride, size});
      last = {last.stride * size, last.size / size};
      size = 1;
    } else {
      return error("splits the devices in a way that no mesh of axes describes; expected tiles of whole axes; %s",
                   kExample);
    }
  }
  std::reverse(taken.begin(), taken.end());
  return taken;
}

/// The meaning of the last tile dimensions, which shard no dimension of the tensor.
enum class TileRole { Replicated, Manual };

Expected<SmallVector<TileRole>> parseRoles(StringRef text) {
  SmallVector<TileRole> roles;
  StringRef rest = text.ltrim();
  if (rest.empty()) return roles;
  if (rest == "last_tile_dim_replicate") return SmallVector<TileRole>{TileRole::Replicated};
  if (!rest.consume_front("last_tile_dims={") || !rest.consume_back("}"))
    return error("has \"%s\"; expected last_tile_dim_replicate or last_tile_dims={...}; correct the sharding",
                 rest.str().c_str());
  SmallVector<StringRef> names;
  rest.split(names, ',');
  for (StringRef name : names) {
    if (name.trim() != "replicated" && name.trim() != "manual")
      return error("has a last tile dimension that is %s; expected replicated or manual; use one of them",
                   name.trim().str().c_str());
    roles.push_back(name.trim() == "manual" ? TileRole::Manual : TileRole::Replicated);
  }
  return roles;
}

}  // namespace

Expected<TileSharding> mlir::sgd::parseTileSharding(StringRef text) {
  TileSharding sharding;
  StringRef rest = text.trim();
  if (!rest.consume_front("{") || !rest.consume_back("}"))
    return error("is not in braces; expected {replicated}, {manual} or {devices=...}; %s", kExample);
  if (rest == "replicated") {
    sharding.isReplicated = true;
    return sharding;
  }
  if (rest == "manual") {
    sharding.isManual = true;
    return sharding;
  }
  if (rest.starts_with("maximal"))
    return error("places a value on one device; expected all devices; give it axes of a mesh, or replicate it");
  if (!rest.consume_front("devices="))
    return error("is of no known kind; expected {replicated}, {manual} or {devices=...}; %s", kExample);

  Expected<SmallVector<int64_t>> tiles = consumeSizes(rest);
  if (!tiles) return tiles.takeError();
  sharding.numDevices = product(*tiles);
  Expected<SmallVector<DeviceSubAxis>> subAxes =
      rest.consume_front("<=") ? consumeIota(rest) : consumeList(rest, sharding.numDevices);
  if (!subAxes) return subAxes.takeError();
  int64_t numSubAxisDevices = 1;
  for (const DeviceSubAxis& subAxis : *subAxes) numSubAxisDevices *= subAxis.size;
  if (numSubAxisDevices != sharding.numDevices)
    return error("has %lld tiles for %lld devices; expected as many; correct the tiles",
                 static_cast<long long>(sharding.numDevices), static_cast<long long>(numSubAxisDevices));
  Expected<SmallVector<TileRole>> roles = parseRoles(rest);
  if (!roles) return roles.takeError();
  if (roles->size() > tiles->size())
    return error(
        "has %lld last tile dimensions in %lld tile dimensions; expected at most as many; correct last_tile_dims",
        static_cast<long long>(roles->size()), static_cast<long long>(tiles->size()));

  for (int64_t size : reverse(*tiles)) {
    Expected<SmallVector<DeviceSubAxis, 2>> taken = splitOff(*subAxes, size);
    if (!taken) return taken.takeError();
    sharding.dims.push_back(std::move(*taken));
  }
  std::reverse(sharding.dims.begin(), sharding.dims.end());
  for (TileRole role : reverse(*roles))
    append_range(role == TileRole::Manual ? sharding.manual : sharding.replicated, sharding.dims.pop_back_val());
  return sharding;
}

Expected<SmallVector<int64_t>> mlir::sgd::deriveMesh(ArrayRef<TileSharding> shardings, int64_t numDevices) {
  SmallVector<int64_t> cuts{1, numDevices};
  for (const TileSharding& sharding : shardings) {
    if (sharding.isReplicated || sharding.isManual) continue;
    if (sharding.numDevices != numDevices)
      return error("shardings are over %lld and over %lld devices; expected all devices in each; export with one mesh",
                   static_cast<long long>(numDevices), static_cast<long long>(sharding.numDevices));
    auto addCuts = [&](ArrayRef<DeviceSubAxis> subAxes) {
      for (const DeviceSubAxis& subAxis : subAxes) cuts.append({subAxis.stride, subAxis.stride * subAxis.size});
    };
    for (const auto& subAxes : sharding.dims) addCuts(subAxes);
    addCuts(sharding.replicated);
    addCuts(sharding.manual);
  }
  sort(cuts, std::greater<>());
  cuts.erase(llvm::unique(cuts), cuts.end());
  SmallVector<int64_t> sizes;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] % cuts[i + 1] != 0)
      return error(
          "shardings split the devices in ways that no common mesh has; expected axes of one mesh; export with it");
    sizes.push_back(cuts[i] / cuts[i + 1]);
  }
  return sizes;
}

SmallVector<int64_t> mlir::sgd::findAxes(DeviceSubAxis subAxis, ArrayRef<int64_t> meshSizes) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < int64_t(meshSizes.size()); ++axis) {
    int64_t stride = product(meshSizes.drop_front(axis + 1));
    if (stride >= subAxis.stride && stride < subAxis.stride * subAxis.size) axes.push_back(axis);
  }
  return axes;
}
