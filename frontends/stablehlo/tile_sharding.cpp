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

/// Reads "[1,2,3]" from the front of `text`: positive numbers whose product can be counted.
Expected<SmallVector<int64_t>> consumeSizes(StringRef& text) {
  SmallVector<int64_t> sizes;
  int64_t product = 1;
  if (!text.consume_front("[")) return error("expected '[' before \"%s\"", text.str().c_str());
  do {
    int64_t size;
    if (text.consumeInteger(10, size) || size < 1 || MulOverflow(product, size, product))
      return error("expected positive sizes");
    sizes.push_back(size);
  } while (text.consume_front(","));
  if (!text.consume_front("]")) return error("expected ']' before \"%s\"", text.str().c_str());
  return sizes;
}

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) result *= size;
  return result;
}

/// Digits, major first, of "<=[4,2]T(1,0)": the ids reshaped to the sizes, then transposed.
Expected<SmallVector<DeviceDigit>> consumeIota(StringRef& text) {
  Expected<SmallVector<int64_t>> sizes = consumeSizes(text);
  if (!sizes) return sizes.takeError();
  SmallVector<int64_t> order = to_vector(seq<int64_t>(0, sizes->size()));
  if (text.consume_front("T(")) {
    SmallVector<bool> seen(sizes->size(), false);
    for (auto [i, dim] : enumerate(order)) {
      if ((i && !text.consume_front(",")) || text.consumeInteger(10, dim) || dim < 0 || dim >= int64_t(sizes->size()) ||
          seen[dim])
        return error("expected a permutation after 'T('");
      seen[dim] = true;
    }
    if (!text.consume_front(")")) return error("expected ')' before \"%s\"", text.str().c_str());
  }
  SmallVector<DeviceDigit> digits;
  for (int64_t dim : order) digits.push_back({product(ArrayRef(*sizes).drop_front(dim + 1)), (*sizes)[dim]});
  return digits;
}

/// The value that `digits`, major first, give position `index`.
int64_t evaluate(ArrayRef<DeviceDigit> digits, int64_t index) {
  int64_t id = 0;
  for (const DeviceDigit& digit : reverse(digits)) {
    id += index % digit.size * digit.stride;
    index /= digit.size;
  }
  return id;
}

/// Digits of an explicit list of ids, found from the minor end: the longest run of equal steps is a
/// digit.
Expected<SmallVector<DeviceDigit>> consumeList(StringRef& text, int64_t numDevices) {
  SmallVector<int64_t> ids;
  do {
    if (text.consumeInteger(10, ids.emplace_back()) || ids.back() < 0 || ids.back() >= numDevices)
      return error("expected device ids below %lld", static_cast<long long>(numDevices));
  } while (text.consume_front(","));
  SmallVector<int64_t> sorted(ids);
  sort(sorted);
  if (int64_t(ids.size()) != numDevices || llvm::unique(sorted) != sorted.end())
    return error("expected %lld different device ids", static_cast<long long>(numDevices));
  SmallVector<DeviceDigit> minorFirst;
  for (int64_t block = 1; block < numDevices;) {
    int64_t step = ids[block] - ids[0], size = 2;
    while ((size + 1) * block <= numDevices && numDevices % (block * size) != 0) ++size;
    while (size * block < numDevices && ids[size * block] == ids[0] + size * step) ++size;
    minorFirst.push_back({step, size});
    block *= size;
  }
  SmallVector<DeviceDigit> digits(reverse(minorFirst));
  for (int64_t index = 0; index < numDevices; ++index)
    if (evaluate(digits, index) != ids[index]) return error("the order of devices is not that of a mesh");
  return digits;
}

/// Takes the digits of one tile dimension of `size` from the minor end of `digits`.
Expected<SmallVector<DeviceDigit, 2>> splitOff(SmallVectorImpl<DeviceDigit>& digits, int64_t size) {
  SmallVector<DeviceDigit, 2> taken;
  while (size > 1) {
    if (digits.empty()) return error("has more tiles than devices");
    DeviceDigit& last = digits.back();
    if (size % last.size == 0) {
      size /= last.size;
      if (last.size > 1) taken.push_back(last);
      digits.pop_back();
    } else if (last.size % size == 0) {
      taken.push_back({last.stride, size});
      last = {last.stride * size, last.size / size};
      size = 1;
    } else {
      return error("splits the devices in a way that no mesh of axes describes");
    }
  }
  std::reverse(taken.begin(), taken.end());
  return taken;
}

/// What the last tile dimensions mean, which shard no dimension of the tensor.
enum class TileRole { Replicated, Manual };

Expected<SmallVector<TileRole>> parseRoles(StringRef text) {
  SmallVector<TileRole> roles;
  StringRef rest = text.ltrim();
  if (rest.empty()) return roles;
  if (rest == "last_tile_dim_replicate") return SmallVector<TileRole>{TileRole::Replicated};
  if (!rest.consume_front("last_tile_dims={") || !rest.consume_back("}"))
    return error("has \"%s\", which is not supported", rest.str().c_str());
  SmallVector<StringRef> names;
  rest.split(names, ',');
  for (StringRef name : names) {
    if (name.trim() != "replicated" && name.trim() != "manual")
      return error("has a last tile dimension that is %s; expected replicated or manual", name.trim().str().c_str());
    roles.push_back(name.trim() == "manual" ? TileRole::Manual : TileRole::Replicated);
  }
  return roles;
}

}  // namespace

Expected<TileSharding> mlir::sgd::parseTileSharding(StringRef text) {
  TileSharding sharding;
  StringRef rest = text.trim();
  if (!rest.consume_front("{") || !rest.consume_back("}")) return error("expected a sharding in braces");
  if (rest == "replicated") {
    sharding.isReplicated = true;
    return sharding;
  }
  if (rest == "manual") {
    sharding.isManual = true;
    return sharding;
  }
  if (rest.starts_with("maximal"))
    return error("one-device shardings are not supported; give it axes of a mesh, or replicate it");
  if (!rest.consume_front("devices=")) return error("expected {replicated} or {devices=[...]...}");

  Expected<SmallVector<int64_t>> tiles = consumeSizes(rest);
  if (!tiles) return tiles.takeError();
  sharding.numDevices = product(*tiles);
  Expected<SmallVector<DeviceDigit>> digits =
      rest.consume_front("<=") ? consumeIota(rest) : consumeList(rest, sharding.numDevices);
  if (!digits) return digits.takeError();
  int64_t numDigits = 1;
  for (const DeviceDigit& digit : *digits) numDigits *= digit.size;
  if (numDigits != sharding.numDevices) return error("has another number of tiles than of devices");
  Expected<SmallVector<TileRole>> roles = parseRoles(rest);
  if (!roles) return roles.takeError();
  if (roles->size() > tiles->size()) return error("has more roles of last tile dimensions than tile dimensions");

  for (int64_t size : reverse(*tiles)) {
    Expected<SmallVector<DeviceDigit, 2>> taken = splitOff(*digits, size);
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
      return error("shardings are over %lld and over %lld devices", static_cast<long long>(numDevices),
                   static_cast<long long>(sharding.numDevices));
    auto addCuts = [&](ArrayRef<DeviceDigit> digits) {
      for (const DeviceDigit& digit : digits) cuts.append({digit.stride, digit.stride * digit.size});
    };
    for (const auto& digits : sharding.dims) addCuts(digits);
    addCuts(sharding.replicated);
    addCuts(sharding.manual);
  }
  sort(cuts, std::greater<>());
  cuts.erase(llvm::unique(cuts), cuts.end());
  SmallVector<int64_t> sizes;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] % cuts[i + 1] != 0) return error("shardings split the devices in ways that no common mesh has");
    sizes.push_back(cuts[i] / cuts[i + 1]);
  }
  return sizes;
}

SmallVector<int64_t> mlir::sgd::findAxes(DeviceDigit digit, ArrayRef<int64_t> meshSizes) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < int64_t(meshSizes.size()); ++axis) {
    int64_t stride = product(meshSizes.drop_front(axis + 1));
    if (stride >= digit.stride && stride < digit.stride * digit.size) axes.push_back(axis);
  }
  return axes;
}
