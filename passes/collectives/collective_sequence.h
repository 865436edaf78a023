// The collectives of a function as plain records: what the artifact's hash, the reports and the verifier see of them.
#ifndef SGD_PASSES_COLLECTIVES_COLLECTIVE_SEQUENCE_H
#define SGD_PASSES_COLLECTIVES_COLLECTIVE_SEQUENCE_H

#include <array>
#include <string>
#include <vector>

#include "dialects/spmd/spmd_dialect.h"
#include "passes/partition/reshard_planner.h"

namespace mlir::sgd {

/// One collective as every rank issues it.
struct CollectiveRecord {
  CollectiveKind kind;
  std::optional<ReduceKind> reduce;
  AxisParts axes;
  AxisParts fromAxes;                // permute only
  SmallVector<std::string> elements;  // per operand: "f32"
  SmallVector<int64_t> counts;        // per operand: elements of the operand
  uint64_t bytes = 0;                 // of one rank, as SentBytes counts them
  Operation *op = nullptr;

  /// Payload that a rank sends, ring rule.
  uint64_t getSentBytes() const { return CostModel::getSentBytes(kind, axes, bytes); }
};

/// True for ops through which ranks exchange data.
bool isCollective(Operation *op);

/// The group of a collective; of a permute the order in which ranks receive.
AxisListAttr getGroup(Operation *collective);

/// All collectives of `function` in program order; the same on every rank, since they stand in one block (see spmd-verify).
std::vector<CollectiveRecord> computeCollectiveSequence(func::FuncOp function);

/// SHA-256 over kind, reduction, axes, element types and counts of the sequence.
std::array<uint8_t, 32> hashCollectiveSequence(ArrayRef<CollectiveRecord> sequence);

/// Sum of `getSentBytes` over the sequence.
uint64_t getSentBytes(ArrayRef<CollectiveRecord> sequence);

}  // namespace mlir::sgd

#endif
