// Batches ops on statistics along a leading dimension of groups, as vmap does, until they meet rows.
#include "compiler/recipe/group_statistics.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/tensor_names.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/expressions/tensor_math.h"
#include "passes/graph/training/rows_analysis.h"
#include "passes/sharding/manual/batch_op.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr llvm::StringLiteral kField = "field 'train.batch_norm': ";

class StatisticsGrouping {
 public:
  StatisticsGrouping(func::FuncOp function, const RowsAnalysis& rows, const DenseSet<Operation*>& statistics,
                     int64_t groups)
      : function(function),
        rows(rows),
        statistics(statistics),
        groups(groups),
        mesh(*CutMesh::create(
            MeshAttr::get(function.getContext(), MeshAxisAttr::get(function.getContext(), "groups", groups)), {})),
        builder(function.getContext()),
        math(builder, function.getLoc()) {}

  LogicalResult run() {
    Block& block = function.front();
    for (Operation& op : llvm::make_early_inc_range(block.without_terminator())) {
      builder.setInsertionPoint(&op);
      math.setLoc(op.getLoc());
      if (failed(visit(&op))) return failure();
    }
    builder.setInsertionPoint(block.getTerminator());
    for (OpOperand& operand : block.getTerminator()->getOpOperands())
      if (Value value = grouped.lookup(operand.get())) {
        if (!isa<FloatType>(tensorType(value).getElementType()))
          return refuse(operand.get().getDefiningOp()) << "gives integers of statistics, which have no mean over ranks";
        operand.set(getMean(value));
      }
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) op.erase();
    return success();
  }

 private:
  bool hasRows(Value value) const { return rows.get(value).kind == RowsState::Kind::Rows; }

  LogicalResult visit(Operation* op) {
    if (statistics.contains(op)) return reduceByGroup(cast<ReduceOp>(op));
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return grouped.contains(operand); })) return success();
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return hasRows(operand); })) return meetRows(op);
    bool canBatch = op->getNumRegions() == 0 && (isElementwise(op) || isa<BatchRuleOpInterface>(op));
    if (!canBatch) return refuse(op) << "is computed from statistics of a batch norm, and has no form by groups";
    BatchBuilder batch(builder, mesh);
    SmallVector<Batched> operands, results;
    for (Value operand : op->getOperands()) {
      Value own = grouped.lookup(operand);
      operands.push_back(own ? Batched{own, {0}} : Batched{operand, {}});
    }
    if (failed(batchOp(op, operands, batch, results))) return failure();
    for (auto [result, own] : llvm::zip(op->getResults(), results))
      grouped[result] = correct(op, batch.spread(op->getLoc(), own, {0}).value);
    return success();
  }

  InFlightDiagnostic refuse(Operation* op) { return op->emitError() << kField << "'" << op->getName() << "' "; }

  /// The sums of each group, times their number: a division by the elements of all groups gives the group's mean.
  LogicalResult reduceByGroup(ReduceOp op) {
    RowsState state = rows.get(op.getInput());
    if (state.kind != RowsState::Kind::Rows || !llvm::is_contained(op.getDimensions(), state.dim) ||
        op.getKind() != ReduceKind::Add)
      return refuse(op) << "is no sum over rows of the batch";
    Value parts = splitRows(op.getInput(), state.dim);
    SmallVector<int64_t> dims = llvm::map_to_vector(op.getDimensions(), [](int64_t dim) { return dim + 1; });
    Value sums = math.reduce(parts, ReduceKind::Add, dims);
    grouped[op.getResult()] = math.multiply(sums, math.splat(tensorType(sums), static_cast<double>(groups)));
    return success();
  }

  /// [.., rows, ..] as [groups, .., rows / groups, ..].
  Value splitRows(Value value, int64_t dim) {
    SmallVector<int64_t> shape(tensorType(value).getShape()), order{dim};
    shape[dim] /= groups;
    shape.insert(shape.begin() + dim, groups);
    for (int64_t other = 0; other < static_cast<int64_t>(shape.size()); ++other)
      if (other != dim) order.push_back(other);
    Value parts = math.reshape(value, shape);
    return dim == 0 ? parts : math.transpose(parts, order);
  }

  /// n / (n - 1) of a group instead of all.
  Value correct(Operation* op, Value value) {
    auto count = op->getAttrOfType<FloatAttr>(kBatchStatisticsAttr);
    if (!count) return value;
    auto unbiased = [](double count) { return count / std::max(1.0, count - 1); };
    double all = count.getValueAsDouble();
    return math.multiply(value,
                         math.splat(tensorType(value), unbiased(all / static_cast<double>(groups)) / unbiased(all)));
  }

  LogicalResult meetRows(Operation* op) {
    if (!isElementwise(op))
      return refuse(op) << "combines rows with statistics of a batch norm other than element by element";
    auto whole = llvm::find_if(op->getOperands(), [&](Value operand) { return hasRows(operand); });
    unsigned dim = rows.get(*whole).dim;
    for (OpOperand& operand : op->getOpOperands()) {
      if (!grouped.contains(operand.get())) continue;
      Value repeated = repeatByRow(operand.get(), dim);
      if (!repeated)
        return refuse(op) << "combines rows with statistics of a batch norm that are not repeated along rows";
      operand.set(repeated);
    }
    return success();
  }

  /// A value of the shape of rows whose elements are equal along dimension `dim`, by groups; null for any other.
  Value repeatByRow(Value value, unsigned dim) {
    if (!grouped.contains(value)) return value;
    if (Value known = repeated.lookup({value, dim})) return known;
    Operation* op = value.getDefiningOp();
    Value result;
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
      result = repeatBroadcast(broadcast, dim);
    else if (isElementwise(op))
      result = repeatElements(op, dim);
    if (result) repeated[{value, dim}] = result;
    return result;
  }

  Value repeatElements(Operation* op, unsigned dim) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return repeatByRow(operand, dim); });
    if (llvm::is_contained(operands, Value())) return {};
    Operation* copy = builder.clone(*op);
    copy->setOperands(operands);
    return copy->getResult(0);
  }

  Value repeatBroadcast(BroadcastInDimOp op, unsigned dim) {
    RankedTensorType type = tensorType(op.getResult()), from = tensorType(op.getInput());
    if (!llvm::is_sorted(op.getDims())) return {};
    int64_t rowsDim = dim, before = 0;
    SmallVector<int64_t> dims, shape(type.getShape());
    for (auto [index, to] : llvm::enumerate(op.getDims())) {
      if (to == rowsDim && from.getDimSize(index) != 1) return {};
      before += to < rowsDim;
      dims.push_back(to + (to >= rowsDim));
    }
    shape[dim] /= groups;
    shape.insert(shape.begin() + dim, groups);
    // The groups come behind the dimensions that are in front of the rows.
    auto order = llvm::to_vector(llvm::seq<int64_t>(1, from.getRank() + 1));
    order.insert(order.begin() + before, 0);
    dims.insert(dims.begin() + before, rowsDim);
    Value own = grouped.lookup(op.getInput());
    if (before > 0) own = math.transpose(own, order);
    return math.reshape(math.broadcast(own, dims, shape), type.getShape());
  }

  Value getMean(Value value) {
    Value sum = math.reduce(value, ReduceKind::Add, 0);
    return math.divide(sum, math.splat(tensorType(sum), static_cast<double>(groups)));
  }

  func::FuncOp function;
  const RowsAnalysis& rows;
  const DenseSet<Operation*>& statistics;
  int64_t groups;
  CutMesh mesh;
  OpBuilder builder;
  TensorMath math;
  DenseMap<Value, Value> grouped;                        // [groups, ...]
  DenseMap<std::pair<Value, unsigned>, Value> repeated;  // by value and dimension of rows
};

/// Ops that `isStatistic` names. In a scope that is one there may be other reductions than over rows: these are none.
DenseSet<Operation*> findStatistics(func::FuncOp function, const BatchInputs& batch,
                                    const std::function<bool(Operation*)>& isStatistic) {
  DenseSet<Operation*> statistics;
  function.walk([&](ReduceOp op) {
    if (isStatistic(op)) statistics.insert(op);
  });
  for (bool changes = batch.rows > 0; changes;) {
    RowsAnalysis rows(function, batch, statistics);
    SmallVector<Operation*> others;
    for (Operation* op : statistics) {
      RowsState state = rows.get(op->getOperand(0));
      bool sumsRows = state.kind == RowsState::Kind::Rows && cast<ReduceOp>(op).getKind() == ReduceKind::Add &&
                      llvm::is_contained(cast<ReduceOp>(op).getDimensions(), state.dim);
      bool isInLoop = op->getParentOp() != function;
      if (!sumsRows && !isInLoop && !op->hasAttr(kBatchStatisticsAttr)) others.push_back(op);
    }
    for (Operation* op : others) statistics.erase(op);
    changes = !others.empty();
  }
  return statistics;
}

}  // namespace

LogicalResult mlir::sgd::groupStatistics(func::FuncOp function, int64_t groups,
                                         const std::function<bool(Operation*)>& isStatistic) {
  BatchInputs batch = findBatchInputs(function);
  DenseSet<Operation*> statistics = findStatistics(function, batch, isStatistic);
  if (statistics.empty())
    return function.emitError() << kField
                                << "the model has no batch norm; expected batch_norm of PyTorch or "
                                   "stablehlo.batch_norm_training; name the scopes of others by 'scopes', as "
                                   "in {\"kind\": \"per_rank\", \"scopes\": [\"*BatchNorm*\"]}";
  for (Operation* op : statistics)
    if (op->getParentOp() != function)
      return op->emitError() << kField
                             << "statistics inside a loop or branch have no form by groups; unroll the loop, "
                                "or take \"global\"";
  if (batch.other)
    return function.emitError() << kField << "the inputs '" << getInputName(function, batch.inputs.front()) << "' and '"
                                << getInputName(function, *batch.other)
                                << "' have different numbers of rows; expected one batch; take \"global\"";
  if (groups < 2) return success();
  if (batch.rows % groups != 0)
    return function.emitError() << kField << "the batch has " << batch.rows << " rows, which do not divide into "
                                << groups << " ranks and micro-batches; choose a multiple, or take \"global\"";
  RowsAnalysis rows(function, batch, statistics);
  return StatisticsGrouping(function, rows, statistics, groups).run();
}
