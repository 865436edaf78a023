// The decision of sgd-compress-reductions about one reduction, as data for reports.
#ifndef SGD_PASSES_COMPRESS_COMPRESSION_DECISION_H
#define SGD_PASSES_COMPRESS_COMPRESSION_DECISION_H

#include <optional>
#include <string>
#include <vector>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Discardable attribute of functions: an array with a dictionary for each reduction over a compressed axis.
inline constexpr llvm::StringLiteral kCompressionsAttr = "sgd.compressions";

struct CompressionDecision {
  std::string kind;               ///< "int8"; empty where the reduction stays as it is
  std::string state;              ///< name of the argument that the gradient updates; empty where there is none
  Type tensor;                    ///< what is reduced, without its sharding
  std::string source;             ///< file:line:column of the reduction, or nothing
  std::vector<std::string> axes;  ///< that it is over
  uint64_t sentBytes = 0;         ///< by each rank in a step
  uint64_t wholeBytes = 0;        ///< the same if it were not compressed
  std::string why;                ///< it is not compressed; empty when it is

  DictionaryAttr toAttr(MLIRContext* context) const;
  static std::optional<CompressionDecision> fromAttr(Attribute attribute);

  /// "the gradient of params['w'] is sent as int8: 1024 bytes instead of 4096", for people.
  std::string getText() const;
};

/// All decisions of a function, in order.
SmallVector<CompressionDecision, 0> getCompressions(Operation* function);

}  // namespace mlir::sgd

#endif
