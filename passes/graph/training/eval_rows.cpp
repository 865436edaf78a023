// Masks rows, and adds sums up over batches.
#include "passes/graph/training/eval_rows.h"

#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_names.h"
#include "passes/graph/expressions/tensor_math.h"
#include "passes/graph/training/rows_analysis.h"
#include "runtime/artifact/evaluation_state.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class RowsCounter {
 public:
  RowsCounter(func::FuncOp function, int64_t rows)
      : function(function), rows(rows), builder(function.getContext()), math(builder, function.getLoc()) {}

  void count(const RowsAnalysis& analysis) {
    builder.setInsertionPointToStart(&function.front());
    double batch = static_cast<double>(rows);
    Value padding = addArgument(builder.getI32Type(), ::sgd::artifact::kEvaluationPadding);
    Value before = addArgument(builder.getF64Type(), ::sgd::artifact::kEvaluationRows);
    counted = math.create<arith::SubIOp>(math.index(rows), padding);
    Value own = math.create<arith::SIToFPOp>(tensorType(before), counted);
    Value after = math.add(before, own);
    scale = math.divide(math.splat(tensorType(before), batch), after);
    for (auto [operand, dim] : analysis.getSummed()) fill(*operand, dim);
    for (const auto& [sum, uses] : analysis.getCut()) replaceByTotal(sum, uses);
    function.setType(
        builder.getFunctionType(function.getArgumentTypes(), function.front().getTerminator()->getOperandTypes()));
  }

 private:
  Value addArgument(Type type, std::string_view name) {
    unsigned position = function.getNumArguments();
    Attribute role = RoleAttr::get(builder.getContext(), Role::Input);
    NamedAttribute attributes[] = {builder.getNamedAttr(kNameAttr, builder.getStringAttr(StringRef(name))),
                                   builder.getNamedAttr(kRoleAttr, role)};
    (void)function.insertArgument(position, RankedTensorType::get({}, type), builder.getDictionaryAttr(attributes),
                                  function.getLoc());
    return function.getArgument(position);
  }

  void addResult(Value value, std::string_view name) {
    Operation* end = function.front().getTerminator();
    unsigned position = end->getNumOperands();
    (void)function.insertResult(
        position, value.getType(),
        builder.getDictionaryAttr(builder.getNamedAttr(kNameAttr, builder.getStringAttr(StringRef(name)))));
    end->insertOperands(position, value);
  }

  /// Rows behind those that count become zeros.
  void fill(OpOperand& operand, unsigned dim) {
    Value value = operand.get();
    RankedTensorType type = tensorType(value);
    Value& shared = filled[{value, dim}];
    if (!shared) {
      builder.setInsertionPointAfterValue(isa<BlockArgument>(value) ? scale : value);
      Value limit = math.create<arith::MulIOp>(counted, math.index(type.getDimSize(dim) / rows));
      ArrayRef<int64_t> shape = type.getShape();
      Value counts = math.isLess(math.iota(shape, dim), math.broadcast(limit, {}, shape));
      TypedAttr zero = getNeutralElement(builder, ReduceKind::Add, type.getElementType());
      Value zeros = math.create<arith::ConstantOp>(DenseElementsAttr::get(type, zero));
      shared = math.select(counts, value, zeros);
    }
    operand.set(shared);
  }

  /// `uses` of a batch's sum read the sum over all batches so far, scaled to the rows of one batch.
  void replaceByTotal(Value sum, ArrayRef<RowsAnalysis::Use> uses) {
    builder.setInsertionPointAfterValue(sum);
    std::string name = std::string(::sgd::artifact::kEvaluationSums) + std::to_string(sums++);
    Value before = addArgument(builder.getF64Type(), name);
    Type element = tensorType(sum).getElementType();
    auto wide = cast<RankedTensorType>(before.getType());
    bool isInteger = element.isInteger();
    Value own = sum;
    if (isInteger)
      own = math.create<arith::SIToFPOp>(wide, sum);
    else if (!element.isF64())
      own = math.create<arith::ExtFOp>(wide, sum);
    Value after = math.add(before, own), total = math.multiply(after, scale);
    Type narrow = isInteger ? Type(builder.getF32Type()) : element;
    if (!narrow.isF64()) total = math.create<arith::TruncFOp>(RankedTensorType::get({}, narrow), total);
    for (RowsAnalysis::Use use : uses) use.op->setOperand(use.operand, total);
    addResult(after, name);
  }

  func::FuncOp function;
  int64_t rows;
  OpBuilder builder;
  TensorMath math;
  Value counted, scale;
  unsigned sums = 0;
  DenseMap<std::pair<Value, unsigned>, Value> filled;
};

}  // namespace

void mlir::sgd::countRows(func::FuncOp evaluation) {
  constexpr llvm::StringLiteral kConsequence =
      "; an evaluation leaves out rows that fill no batch, and returns the mean over batches";
  BatchInputs batch = findBatchInputs(evaluation);
  if (batch.other) {
    emitRemark(evaluation.getLoc()) << "the inputs '" << getInputName(evaluation, batch.inputs.front()) << "' and '"
                                    << getInputName(evaluation, *batch.other) << "' have different numbers of rows"
                                    << kConsequence;
    return;
  }
  if (batch.rows < 2) return;
  RowsAnalysis analysis(evaluation, batch, {});
  Operation* end = evaluation.front().getTerminator();
  for (OpOperand& operand : end->getOpOperands()) {
    RowsState state = analysis.get(operand.get());
    if (tensorType(operand.get()).getRank() > 0 || state.kind != RowsState::Kind::Mixed) continue;
    emitRemark(state.mixer->getLoc()) << "'" << getOutputName(evaluation, operand.getOperandNumber())
                                      << "' depends on rows of the batch together, other than by sums over rows"
                                      << kConsequence;
    return;
  }
  RowsCounter(evaluation, batch.rows).count(analysis);
}
