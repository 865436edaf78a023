// Follows rows through the function by the sharding rules of its ops, as sgd-pad-batch does, and sums by their
// linearity.
#include "passes/graph/training/eval_rows.h"

#include "dialects/sgd/data_flow.h"
#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/tensor_names.h"
#include "llvm/ADT/MapVector.h"
#include "passes/graph/expressions/tensor_math.h"
#include "runtime/artifact/evaluation_state.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// What a value is of the batch.
struct RowsState {
  enum class Kind : uint8_t {
    Independent,  ///< of no row
    Rows,         ///< its dimension `dim` holds the rows, each of them as one or more elements
    Sum,          ///< a sum over rows, or linear in such sums
    Total,        ///< computed from sums over all rows
    Mixed,        ///< of several rows in another way, first at `mixer`
  };
  Kind kind = Kind::Independent;
  unsigned dim = 0;
  Operation* mixer = nullptr;
  bool operator==(const RowsState&) const = default;
};
using Kind = RowsState::Kind;

/// An operand of an op, whose number of operands may grow.
struct Use {
  Operation* op;
  unsigned operand;
};

class RowsAnalysis {
 public:
  RowsAnalysis(func::FuncOp function, int64_t rows, ArrayRef<unsigned> inputs) : function(function), rows(rows) {
    for (unsigned input : inputs) states[function.getArgument(input)] = {Kind::Rows};
    visit(function.front());
  }

  RowsState get(Value value) const { return states.lookup(value); }
  /// The dimension of rows of an operand that its op sums over.
  ArrayRef<std::pair<OpOperand*, unsigned>> getSummed() const { return summed.getArrayRef(); }
  /// Scalar sums, and their uses that are not linear.
  const llvm::MapVector<Value, SmallVector<Use>>& getCut() const { return cut; }

 private:
  bool isInLoop(Operation* op) { return op->getParentOp() != function; }

  void visit(Block& block) {
    for (Operation& op : block.without_terminator()) {
      if (auto flow = dyn_cast<DataFlowOpInterface>(op))
        visitDataFlow(flow);
      else
        for (Value result : op.getResults()) states[result] = visitOp(&op, result);
    }
    if (block.getParentOp() != function) return;
    for (OpOperand& operand : block.getTerminator()->getOpOperands())
      if (get(operand.get()).kind == Kind::Sum) cutBefore(operand);
  }

  /// A sum that is no scalar would need a tensor to be kept over batches.
  RowsState cutBefore(OpOperand& operand) {
    if (tensorType(operand.get()).getRank() > 0 || isInLoop(operand.getOwner()))
      return {Kind::Mixed, 0, operand.getOwner()};
    cut[operand.get()].push_back({operand.getOwner(), operand.getOperandNumber()});
    return {Kind::Total};
  }

  RowsState visitOp(Operation* op, Value result) {
    bool hasRows = false, hasSums = false, hasTotals = false;
    for (Value operand : op->getOperands()) {
      RowsState state = get(operand);
      if (state.kind == Kind::Mixed) return state;
      hasRows |= state.kind == Kind::Rows;
      hasSums |= state.kind == Kind::Sum;
      hasTotals |= state.kind == Kind::Total;
    }
    if (hasRows) return hasSums || hasTotals ? mixed(op) : visitRows(op, result);
    if (hasSums) return visitSums(op);
    return {hasTotals ? Kind::Total : Kind::Independent};
  }

  static RowsState mixed(Operation* op) { return {Kind::Mixed, 0, op}; }

  RowsState visitSums(Operation* op) {
    unsigned alone = 0, together = 0, sums = 0;
    for (OpOperand& operand : op->getOpOperands()) {
      if (get(operand.get()).kind != Kind::Sum) continue;
      Linearity linearity =
          isFloatOfSum(op) ? Linearity::Alone : getLinearity(op, operand.getOperandNumber(), ReduceKind::Add);
      ++sums, alone += linearity == Linearity::Alone, together += linearity == Linearity::Together;
    }
    bool isLinear = (sums == 1 && alone == 1) || (together == sums && sums == op->getNumOperands());
    bool scalesByTotal =
        llvm::any_of(op->getOperands(), [&](Value operand) { return get(operand).kind == Kind::Total; });
    if (isLinear && !scalesByTotal) return {Kind::Sum};
    RowsState state{Kind::Total};
    for (OpOperand& operand : op->getOpOperands())
      if (get(operand.get()).kind == Kind::Sum)
        if (RowsState own = cutBefore(operand); own.kind == Kind::Mixed) state = own;
    return state;
  }

  /// Integers that become floats: exact up to rounding.
  static bool isFloatOfSum(Operation* op) { return isa<arith::SIToFPOp, arith::UIToFPOp>(op); }

  RowsState visitRows(Operation* op, Value result) {
    auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
    if (!ruled) return mixed(op);
    ShardingRule rule = ruled.getShardingRule();
    std::optional<unsigned> factor;
    for (auto [operand, mapping] : llvm::zip(op->getOperands(), rule.operands)) {
      RowsState state = get(operand);
      if (state.kind != Kind::Rows) continue;
      if (mapping.size() <= state.dim || mapping[state.dim].empty()) return mixed(op);
      unsigned own = mapping[state.dim].front();
      if (factor && *factor != own) return mixed(op);
      factor = own;
    }
    auto isMajor = [&](const TensorMapping& mapping) { return isMajorIn(mapping, *factor); };
    if (rule.factors[*factor].size % rows != 0 || !llvm::all_of(rule.operands, isMajor) ||
        !llvm::all_of(rule.results, isMajor))
      return mixed(op);
    if (rule.factors[*factor].kind == FactorKind::PassThrough) {
      std::optional<unsigned> dim = findDim(rule.results[cast<OpResult>(result).getResultNumber()], *factor);
      return dim ? RowsState{Kind::Rows, *dim} : mixed(op);
    }
    return sumRows(op, rule, *factor);
  }

  RowsState sumRows(Operation* op, const ShardingRule& rule, unsigned factor) {
    bool isSum = rule.factors[factor].kind == FactorKind::Reduction &&
                 rule.factors[factor].reduceKind == ReduceKind::Add && isa<ReduceOp, DotGeneralOp>(op);
    if (!isSum || isInLoop(op)) return mixed(op);
    for (OpOperand& operand : op->getOpOperands())
      if (auto dim = findDim(rule.operands[operand.getOperandNumber()], factor)) summed.insert({&operand, *dim});
    return {Kind::Sum};
  }

  static std::optional<unsigned> findDim(const TensorMapping& mapping, unsigned factor) {
    for (auto [dim, factors] : llvm::enumerate(mapping))
      if (!factors.empty() && factors.front() == factor) return dim;
    return std::nullopt;
  }

  /// Whether the rows are the outer part of one dimension.
  static bool isMajorIn(const TensorMapping& mapping, unsigned factor) {
    unsigned count = 0;
    for (ArrayRef<unsigned> factors : mapping)
      for (auto [place, own] : llvm::enumerate(factors)) {
        if (own != factor) continue;
        if (place > 0) return false;
        ++count;
      }
    return count <= 1;
  }

  // Loops and branches
  // ---------------------------------------------------------------------------------------------------------------

  /// The state of a value that is one of both, or one after the other.
  static RowsState join(RowsState a, RowsState b, Operation* op) {
    if (a == b || b.kind == Kind::Independent) return a.kind == Kind::Sum && !(a == b) ? mixed(op) : a;
    if (a.kind == Kind::Mixed) return a;
    if (b.kind == Kind::Mixed) return b;
    bool isRows = a.kind == Kind::Independent && b.kind != Kind::Sum;
    return isRows ? b : mixed(op);
  }

  void visitDataFlow(DataFlowOpInterface op) {
    SmallVector<DataFlowEdge> edges = op.getDataFlowEdges();
    for (bool changes = true; changes;) {
      changes = false;
      for (const DataFlowEdge& edge : edges) changes |= flow(op, edge);
      for (Region& region : op->getRegions())
        if (!region.empty()) visit(region.front());
    }
  }

  /// Whether the targets got another state.
  bool flow(DataFlowOpInterface op, const DataFlowEdge& edge) {
    RowsState state = edge.sources.empty() ? RowsState() : get(edge.sources.front()->get());
    for (OpOperand* source : llvm::drop_begin(edge.sources, edge.sources.empty() ? 0 : 1))
      state = join(state, get(source->get()), op);
    Value decider = op.getDecider();
    if (decider && edge.isChosen() && get(decider).kind != Kind::Independent) state = mixed(op);
    auto isAlike = [&](Value target) {
      return edge.sources.empty() || target.getType() == edge.sources.front()->get().getType();
    };
    bool changes = false;
    for (Value target : edge.targets) {
      RowsState known = get(target);
      RowsState next = join(known, isAlike(target) || state.kind == Kind::Independent ? state : mixed(op), op);
      if (known.kind != Kind::Mixed && !(next == known)) states[target] = next, changes = true;
    }
    return changes;
  }

  func::FuncOp function;
  int64_t rows;
  DenseMap<Value, RowsState> states;
  llvm::SetVector<std::pair<OpOperand*, unsigned>> summed;
  llvm::MapVector<Value, SmallVector<Use>> cut;
};

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
  void replaceByTotal(Value sum, ArrayRef<Use> uses) {
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
    for (Use use : uses) use.op->setOperand(use.operand, total);
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

/// Inputs with rows; empty where they are not equally many. Words of a random generator have none.
SmallVector<unsigned> findInputs(func::FuncOp function) {
  SmallVector<unsigned> inputs;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
    bool isWords = type.getRank() == 1 && function.getArgAttr(argument, kUnsignedAttr) &&
                   type.getElementType().isInteger(32) && (type.getDimSize(0) == 2 || type.getDimSize(0) == 4);
    if (!isState(getRole(function, argument)) && type.getRank() > 0 && !isWords) inputs.push_back(argument);
  }
  return inputs;
}

int64_t getRows(func::FuncOp function, unsigned input) {
  return cast<RankedTensorType>(function.getArgumentTypes()[input]).getDimSize(0);
}

}  // namespace

void mlir::sgd::countRows(func::FuncOp evaluation) {
  SmallVector<unsigned> inputs = findInputs(evaluation);
  if (inputs.empty()) return;
  constexpr llvm::StringLiteral kConsequence =
      "; an evaluation leaves out rows that fill no batch, and returns the mean over batches";
  int64_t rows = getRows(evaluation, inputs.front());
  for (unsigned input : inputs)
    if (getRows(evaluation, input) != rows) {
      emitRemark(evaluation.getLoc()) << "the inputs '" << getInputName(evaluation, inputs.front()) << "' and '"
                                      << getInputName(evaluation, input) << "' have different numbers of rows"
                                      << kConsequence;
      return;
    }
  if (rows < 2) return;
  RowsAnalysis analysis(evaluation, rows, inputs);
  Operation* end = evaluation.front().getTerminator();
  for (OpOperand& operand : end->getOpOperands()) {
    RowsState state = analysis.get(operand.get());
    if (tensorType(operand.get()).getRank() > 0 || state.kind != Kind::Mixed) continue;
    emitRemark(state.mixer->getLoc()) << "'" << getOutputName(evaluation, operand.getOperandNumber())
                                      << "' depends on rows of the batch together, other than by sums over rows"
                                      << kConsequence;
    return;
  }
  RowsCounter(evaluation, rows).count(analysis);
}
