// The cost of an op in operations and bytes, by CostOpInterface; passes/timing turns it into seconds.
#ifndef SGD_DIALECTS_COST_COST_OP_H
#define SGD_DIALECTS_COST_COST_OP_H

#include <optional>

#include "dialects/cost/work.h"
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "runtime/comm/collectives/collective_kind.h"
#include "runtime/comm/collectives/range_load.h"

namespace mlir::sgd {

/// A collective: its kind, the axes of its group, and the bytes that count for the time of it.
struct Exchange {
  ::sgd::comm::CollectiveKind kind;
  AxisListAttr group;
  /// The bytes of a rank, as runtime/comm/collectives/sent_bytes.h counts them: operands or results. For gathered
  /// ranges, `loads` count instead.
  uint64_t bytes = 0;
  SmallVector<::sgd::comm::RangeLoad> loads = {};
  AxisListAttr to = {};  ///< gathered ranges only: the order of the results
};

}  // namespace mlir::sgd

#include "dialects/cost/cost_op.h.inc"

namespace mlir::sgd {

/// Returns the number of elements of a tensor, as a factor of operations.
inline double countElements(Value value) { return static_cast<double>(tensorType(value).getNumElements()); }

/// Types that are neither integers nor floats count as 64 bits.
Precision getPrecision(Type elementType);

/// The work of reading `operands` and writing `results`, which are tensors or buffers, without operations.
Work getMoves(ValueRange operands, ValueRange results);

/// The answers of CostOpInterface; an op without it has no work.
Work getWork(Operation* op);
bool isFused(Operation* op);
std::optional<Exchange> getExchange(Operation* op);

/// Adds `count` multiplications and as many additions, of the element type of `operand`, for which a CPU packs `packed`
/// elements of windows.
Work& addMatmul(Work& work, Value operand, double count, double packed = 0);

/// Operations of a merge sort of `elements` in rows of `length`: comparisons of `comparison` ops each, and copies of
/// `numOperands` tensors.
double getSortOperations(double elements, int64_t length, int64_t comparison, int64_t numOperands);

/// Registers the models of arith, math and graph ops. Other dialects attach their own.
void registerCostModels(DialectRegistry& registry);
void registerElementwiseWork(DialectRegistry& registry);
void registerContractionWork(DialectRegistry& registry);
void registerTensorWork(DialectRegistry& registry);

}  // namespace mlir::sgd

#endif
