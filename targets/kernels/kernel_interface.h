// A cluster as a kernel: the properties that the plan needs, and its identity; the same for all targets.
#ifndef SGD_TARGETS_KERNELS_KERNEL_INTERFACE_H
#define SGD_TARGETS_KERNELS_KERNEL_INTERFACE_H

#include <cstdint>
#include <string>
#include <utility>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/sgd_dialect.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd::kernels {

/// (result, operand) numbers of a cluster.
using InPlacePair = std::pair<unsigned, unsigned>;

/// A launch of a cluster's kernel.
struct KernelInterface {
  int64_t range = 1;  ///< parallel iterations, of the size that the target gives them
  int64_t grain = 1;  ///< smallest number of them worth a thread
  /// The result may be written to the operand's buffer: same size, and every element is read, if at all, by the
  /// iteration that overwrites it and before it does so. A result and an operand may stand in several pairs; each may
  /// be chosen once.
  SmallVector<InPlacePair> inPlaceCandidates;
  /// Axis lists of the partition_id and shard_slice ops inside, without repetition, in order of `coordinates`.
  SmallVector<AxisListAttr> coordinates;
};

/// A kernel to be compiled.
struct KernelRequest {
  fusion::ClusterOp body;            ///< not changed
  std::string symbol;                ///< C identifier, unique in the request list
  SmallVector<InPlacePair> inPlace;  ///< chosen among the candidates
};

/// A key that is equal for clusters with the same body, types and in-place choice: they are one kernel. Locations do
/// not matter.
std::string structuralKey(fusion::ClusterOp cluster, ArrayRef<InPlacePair> inPlace);

}  // namespace mlir::sgd::kernels

#endif
