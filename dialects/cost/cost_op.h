// What an op costs, as it says itself; passes/timing makes seconds of it.
#ifndef SGD_DIALECTS_COST_COST_OP_H
#define SGD_DIALECTS_COST_COST_OP_H

#include <optional>

#include "dialects/cost/work.h"
#include "dialects/sgd/sgd_dialect.h"
#include "runtime/comm/collective_kind.h"
#include "runtime/comm/range_load.h"

namespace mlir::sgd {

/// A collective in numbers.
struct Exchange {
  ::sgd::comm::CollectiveKind kind;
  AxisListAttr group;
  /// Of a rank, as runtime/comm/sent_bytes.h counts them: operands, or results. Of gathered ranges `loads` count.
  uint64_t bytes = 0;
  SmallVector<::sgd::comm::RangeLoad> loads = {};
  AxisListAttr to = {};  ///< of gathered ranges: the order of the results
};

}  // namespace mlir::sgd

#include "dialects/cost/cost_op.h.inc"

namespace mlir::sgd {

Precision getPrecision(Type elementType);

/// Work without operations that reads `operands` and writes `results`: tensors or buffers.
Work getMoves(ValueRange operands, ValueRange results);

/// Of ops without the interface none.
Work getWork(Operation* op);
bool isFused(Operation* op);
std::optional<Exchange> getExchange(Operation* op);

/// Of a matmul or convolution: `count` multiplications and additions of elements like those of `operand`.
Work& addMatmul(Work& work, Value operand, double count);

/// Of a sort of rows of `length` elements by a comparator of `comparison` ops: merges, and their copies.
double getSortOperations(double elements, int64_t length, int64_t comparison, int64_t numOperands);

/// Of the ops of the graph and SPMD levels, when their dialects are loaded.
void registerCostModels(DialectRegistry& registry);
void registerElementwiseWork(DialectRegistry& registry);
void registerContractionWork(DialectRegistry& registry);
void registerTensorWork(DialectRegistry& registry);

}  // namespace mlir::sgd

#endif
