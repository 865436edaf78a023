// The decision of sgd-compress-reductions about one reduction, while it is made.
#ifndef SGD_PASSES_SPMD_COMPRESS_COMPRESSION_DECISION_H
#define SGD_PASSES_SPMD_COMPRESS_COMPRESSION_DECISION_H

#include <string>
#include <vector>

#include "dialects/sgd/decision.h"

namespace mlir::sgd {

struct CompressionDecision {
  std::string kind;               ///< "int8"; empty where the reduction stays as it is
  std::string state;              ///< name of the argument that the gradient updates; empty where there is none
  std::vector<std::string> axes;  ///< that it is over
  uint64_t sentBytes = 0;         ///< by each rank in a step
  uint64_t wholeBytes = 0;        ///< the same if it were not compressed
  std::string why;                ///< it is not compressed; empty when it is

  /// The record for reports, with the reason in words; the reduction is at `loc`. `chosen` is the kind, and the
  /// alternative "uncompressed" or, where nothing is chosen, "compressed", with the reason against it.
  Decision toDecision(Location loc) const;
};

}  // namespace mlir::sgd

#endif
