// Tile assignments: parsing, the meshes they imply, and that devices land where the text says, on
// every small mesh.
#include "frontends/stablehlo/tile_sharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

std::string errorOf(llvm::StringRef text) {
  llvm::Expected<TileSharding> sharding = parseTileSharding(text);
  return sharding ? "" : llvm::toString(sharding.takeError());
}

TileSharding parse(llvm::StringRef text) {
  llvm::Expected<TileSharding> sharding = parseTileSharding(text);
  if (!sharding) {
    ADD_FAILURE() << text.str() << ": " << llvm::toString(sharding.takeError());
    return {};
  }
  return std::move(*sharding);
}

int64_t tileOf(int64_t device, ArrayRef<DeviceSubAxis> subAxes) {
  int64_t tile = 0;
  for (DeviceSubAxis subAxis : subAxes) tile = tile * subAxis.size + device / subAxis.stride % subAxis.size;
  return tile;
}

std::string join(ArrayRef<int64_t> values) {
  return "[" + llvm::join(llvm::map_range(values, [](int64_t value) { return std::to_string(value); }), ",") + "]";
}

TEST(TileShardingTest, ReadsReplicated) { EXPECT_TRUE(parse("{replicated}").isReplicated); }

TEST(TileShardingTest, SplitsDimensionsOverSubAxes) {
  TileSharding sharding = parse("{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  ASSERT_EQ(sharding.dims.size(), 2u);
  ASSERT_EQ(sharding.dims[0].size(), 1u);
  EXPECT_EQ(sharding.dims[0][0].stride, 1);
  EXPECT_EQ(sharding.dims[0][0].size, 2);
  EXPECT_TRUE(sharding.dims[1].empty());
  EXPECT_EQ(sharding.replicated[0].stride, 2);
  EXPECT_EQ(sharding.numDevices, 8);
}

// Every transposition of every mesh of up to 3 axes of 2 to 4 devices, tiled every way by whole
// axes: written as iota and as list.
TEST(TileShardingTest, AgreesWithTheDefinition) {
  for (SmallVector<int64_t> mesh : {SmallVector<int64_t>{2, 3, 4}, {4, 2}, {3, 3}, {2, 2, 2}, {6}}) {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, mesh.size()));
    do {
      // Device of each position: reshape to `mesh`, transpose by `order`.
      SmallVector<int64_t> devices, tiles;
      int64_t count = 1;
      for (int64_t size : mesh) count *= size;
      for (int64_t position = 0; position < count; ++position) {
        int64_t rest = position, device = 0;
        for (int64_t axis : llvm::reverse(order)) {
          int64_t stride = 1;
          for (int64_t size : ArrayRef(mesh).drop_front(axis + 1)) stride *= size;
          device += rest % mesh[axis] * stride;
          rest /= mesh[axis];
        }
        devices.push_back(device);
      }
      for (int64_t axis : order) tiles.push_back(mesh[axis]);
      std::string permutation = join(order);
      permutation = "T(" + permutation.substr(1, permutation.size() - 2) + ")";
      std::string list = join(devices);
      for (const std::string& text : {"{devices=" + join(tiles) + "<=" + join(mesh) + permutation + "}",
                                      "{devices=" + join(tiles) + list.substr(1, list.size() - 2) + "}"}) {
        TileSharding sharding = parse(text);
        ASSERT_EQ(sharding.dims.size(), tiles.size()) << text;
        for (auto [position, device] : llvm::enumerate(devices)) {
          int64_t rest = position;
          for (int64_t dim = tiles.size() - 1; dim >= 0; --dim) {
            EXPECT_EQ(tileOf(device, sharding.dims[dim]), rest % tiles[dim]) << text << " device " << device;
            rest /= tiles[dim];
          }
        }
        llvm::Expected<SmallVector<int64_t>> derived = deriveMesh(sharding, count);
        ASSERT_TRUE(bool(derived)) << text;
        int64_t axes = 0;
        for (const auto& subAxes : sharding.dims)
          for (DeviceSubAxis subAxis : subAxes) {
            int64_t size = 1;
            for (int64_t axis : findAxes(subAxis, *derived)) size *= (*derived)[axis];
            EXPECT_EQ(size, subAxis.size) << text;
            axes += findAxes(subAxis, *derived).size();
          }
        EXPECT_EQ(axes, int64_t(derived->size())) << text;
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(TileShardingTest, DerivesTheCommonMesh) {
  auto mesh = deriveMesh(
      {parse("{devices=[4,1,2]<=[8] last_tile_dim_replicate}"), parse("{devices=[2,4]<=[8]}"), parse("{replicated}")},
      8);
  ASSERT_TRUE(bool(mesh));
  EXPECT_EQ(join(*mesh), "[2,2,2]");
  EXPECT_EQ(join(findAxes(parse("{devices=[2,4]<=[8]}").dims[1][0], *mesh)), "[1,2]");
}

TEST(TileShardingTest, RefusesWhatNoMeshHas) {
  auto mesh = deriveMesh({parse("{devices=[2,3]<=[6]}"), parse("{devices=[3,2]<=[6]}")}, 6);
  ASSERT_FALSE(bool(mesh));
  EXPECT_EQ(llvm::toString(mesh.takeError()),
            "shardings split the devices in ways that no common mesh has; expected axes of one mesh; export with it");
  EXPECT_EQ(errorOf("{devices=[3,2]<=[2,3]T(1,0)}"), "");
  EXPECT_EQ(errorOf("{devices=[6,1]<=[4]}"), "has 6 tiles for 4 devices; expected as many; correct the tiles");
  EXPECT_EQ(errorOf("{devices=[2,3]<=[3,2]}"),
            "splits the devices in a way that no mesh of axes describes; expected tiles of whole axes; write it as JAX "
            "prints it, such as {devices=[2,1]<=[2]}");
  EXPECT_EQ(errorOf("{devices=[4]0,1,3,2}"),
            "has devices in an order that no mesh has; expected that of a mesh, transposed or not; write it as JAX "
            "prints it, such as {devices=[2,1]<=[2]}");
}

TEST(TileShardingTest, TellsManualDevicesFromReplicatedOnes) {
  EXPECT_TRUE(parse("{manual}").isManual);
  TileSharding sharding = parse("{devices=[2,2,4]<=[4,4]T(1,0) last_tile_dims={replicated, manual}}");
  ASSERT_EQ(sharding.dims.size(), 1U);
  ASSERT_EQ(sharding.replicated.size(), 1U);
  ASSERT_EQ(sharding.manual.size(), 1U);
  EXPECT_EQ(sharding.dims[0][0].stride, 2);
  EXPECT_EQ(sharding.replicated[0].stride, 1);
  EXPECT_EQ(sharding.manual[0].stride, 4);
  EXPECT_EQ(sharding.manual[0].size, 4);
  auto mesh = deriveMesh({sharding, parse("{manual}")}, 16);
  ASSERT_TRUE(bool(mesh));
  EXPECT_EQ(join(*mesh), "[4,2,2]");
}

TEST(TileShardingTest, ReportsMalformedText) {
  for (llvm::StringRef text : {"",
                               "{",
                               "{}",
                               "{devices}",
                               "{devices=}",
                               "{devices=[]<=[2]}",
                               "{devices=[2]<=[]}",
                               "{devices=[0]<=[0]}",
                               "{devices=[2]<=[2]T(}",
                               "{devices=[2]<=[2]T(1)}",
                               "{devices=[2,2]<=[2,2]T(0,0)}",
                               "{devices=[2]0}",
                               "{devices=[2]0,2}",
                               "{devices=[2]0,0}",
                               "{devices=[4]0,1,1,2}",
                               "{devices=[9223372036854775807,9223372036854775807]<=[4]}",
                               "{devices=[2]<=[2] metadata={op_name=\"x\"}}",
                               "{devices=[2]<=[2] last_tile_dims={manual, manual}}",
                               "{devices=[2]<=[2] last_tile_dims={unreduced}}",
                               "{devices=[2]<=[2] last_tile_dims={manual}",
                               "{maximal device=0}"})
    EXPECT_NE(errorOf(text), "") << text.str();
}

}  // namespace
