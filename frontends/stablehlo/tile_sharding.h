// Shardings as exports without Shardy write them ("{devices=[4,1]<=[4]}"), and the mesh that a set
// of them implies. No IR in it: plain data, tested alone. Method: a tile assignment is a
// mixed-radix view of device ids; the strides where any of them splits an id are the places where
// the mesh has to be split into axes.
#ifndef SGD_FRONTENDS_STABLEHLO_TILE_SHARDING_H
#define SGD_FRONTENDS_STABLEHLO_TILE_SHARDING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::sgd {

/// The sub-axis (id / stride) % size of a device id.
struct DeviceSubAxis {
  int64_t stride;
  int64_t size;
};

struct TileSharding {
  /// "{replicated}": `dims` is empty whatever the tensor's rank.
  bool isReplicated = false;
  /// "{manual}": in a manual region over all devices; `dims` is empty too.
  bool isManual = false;
  /// Sub-axes that shard each tensor dimension, major first.
  llvm::SmallVector<llvm::SmallVector<DeviceSubAxis, 2>> dims;
  /// Sub-axes that shard nothing.
  llvm::SmallVector<DeviceSubAxis, 2> replicated;
  /// Sub-axes over which the value is in a manual region, where its type is that of the local shard.
  llvm::SmallVector<DeviceSubAxis, 2> manual;
  int64_t numDevices = 1;
};

/// Parses "{replicated}", "{manual}", "{devices=[2,1,2]<=[4]T(1,0) last_tile_dim_replicate}", the same with
/// "last_tile_dims={replicated, manual}", or the list form "{devices=[2,2]0,2,1,3}". The error says what is malformed
/// or not supported (maximal shardings, assignments that no mesh of axes describes).
llvm::Expected<TileSharding> parseTileSharding(llvm::StringRef text);

/// Sizes of the axes, major first, of the smallest mesh on which each of `shardings` shards by
/// whole axes. All must have `numDevices` devices, unless they are replicated.
llvm::Expected<llvm::SmallVector<int64_t>> deriveMesh(llvm::ArrayRef<TileSharding> shardings, int64_t numDevices);

/// Positions of the axes, major first, that make up `subAxis` on a mesh from `deriveMesh`.
llvm::SmallVector<int64_t> findAxes(DeviceSubAxis subAxis, llvm::ArrayRef<int64_t> meshSizes);

}  // namespace mlir::sgd

#endif
