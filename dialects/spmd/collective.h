// The interface of all collectives: isa<spmd::CollectiveOpInterface> tells them from other ops.
#ifndef SGD_DIALECTS_SPMD_COLLECTIVE_H
#define SGD_DIALECTS_SPMD_COLLECTIVE_H

#include "dialects/spmd/spmd_dialect.h"
#include "runtime/comm/collectives/collective_kind.h"

namespace mlir::spmd {

/// The one enum of compiler and runtime; the schema's equals it by assertion.
using ::sgd::comm::CollectiveKind;

struct CollectiveForm {
  CollectiveKind kind;
  sgd::AxisListAttr group;
  std::optional<sgd::ReduceKind> reduce = std::nullopt;
  /// Per operand, or the cut and the joined dimension of an all-to-all.
  SmallVector<int64_t> dims = {};
  /// For permutes: the order in which ranks send.
  sgd::AxisListAttr from = {};
  /// For gathered ranges: the ranges of each operand, and the order of the results.
  ArrayAttr ranges = {};
  sgd::AxisListAttr to = {};
  /// Results are the same on ranks that differ only on `settles`, and differ between those that differ on `divides`;
  /// along other axes they differ where operands do. Permutes carry that from one rank to another instead.
  sgd::AxisListAttr settles = {};
  sgd::AxisListAttr divides = {};
  /// Whether one op takes several operands, which may differ in `dims` and `ranges`.
  bool takesBuckets = false;

  /// Whether operands of both could be one bucket.
  bool isLike(const CollectiveForm& other) const;
};

}  // namespace mlir::spmd

#include "dialects/spmd/collective.h.inc"

namespace mlir::spmd {

/// Bytes of a rank by which sent bytes and times are counted (runtime/comm/collectives/sent_bytes.h): of all operands,
/// or of all results. Gathered ranges are counted by RangeLoad instead.
uint64_t getCountedBytes(CollectiveOpInterface collective);

}  // namespace mlir::spmd

#endif
