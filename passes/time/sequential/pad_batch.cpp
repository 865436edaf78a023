// The pass sgd-pad-batch: ops take padded rows where their sharding rules let rows pass or sum over them, and rows
// without padding elsewhere.
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/stage_rows.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/MapVector.h"
#include "passes/sharding/propagation/annotations.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/spmd/partition/padding.h"
#include "passes/time/sequential/padded_values.h"
#include "passes/time/sequential/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PADBATCHPASS
#include "passes/time/sequential/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// A factor of an op's rule, along which its tensors have rows of a batch.
struct RowsFactor {
  unsigned factor, batch;
  bool operator==(const RowsFactor&) const = default;
};

class BatchPadding {
 public:
  BatchPadding(func::FuncOp function, const BatchRows& rows) : function(function), rows(rows), values(rows) {}
  void run();

 private:
  void findRules();
  void padArguments();
  void padResults();
  void visit(Block& block);
  void visitDataFlow(DataFlowOpInterface op);
  void visitRuled(Operation* op, const ShardingRule& rule);
  std::optional<RowsFactor> chooseFactor(Operation* op, const ShardingRule& rule);
  bool passesRows(Operation* op, const ShardingRule& rule, RowsFactor rowsFactor) const;
  void padOperand(OpOperand& operand, const ShardingRule& rule, RowsFactor rowsFactor);

  func::FuncOp function;
  const BatchRows& rows;
  PaddedValues values;
  DenseMap<Operation*, ShardingRule> rules;  // on types without padding
  DenseMap<OpOperand*, RowsDim> wanted;      // of terminators in loops and branches
};
}  // namespace

// Ops
// -------------------------------------------------------------------------------------------------------------------

/// The dimension of a tensor that `factor` is the major one of.
static std::optional<unsigned> findDim(const TensorMapping& mapping, unsigned factor) {
  for (auto [dim, factors] : llvm::enumerate(mapping))
    if (!factors.empty() && factors.front() == factor) return dim;
  return std::nullopt;
}

/// Whether padding along `factor` is behind all rows of the tensor: not where it is a minor factor, or one of two
/// dimensions.
static bool isMajorIn(const TensorMapping& mapping, unsigned factor) {
  unsigned count = 0;
  for (ArrayRef<unsigned> factors : mapping) {
    if (llvm::is_contained(factors.drop_front(factors.empty() ? 0 : 1), factor)) return false;
    count += !factors.empty() && factors.front() == factor;
  }
  return count <= 1;
}

/// Whether what the op writes along `factor` of its first operand are whole rows: a position is then no index, which
/// would be clamped, or left out, by the size of the dimension.
static bool writesWholeRows(Operation* op, const ShardingRule& rule, unsigned factor) {
  if (!isa<DynamicUpdateSliceOp, ScatterOp>(op) || !findDim(rule.operands[0], factor)) return true;
  return findDim(rule.operands[isa<ScatterOp>(op) ? 2 : 1], factor).has_value();
}

/// The value that padding of the op's operands needs along `factor`, a reduction; fails if there is none: if the
/// op has no neutral element, or selects elements by their positions.
static bool canFill(Operation* op, const ShardingRule& rule, unsigned factor) {
  OpBuilder builder(op->getContext());
  bool fills = false;
  for (auto [index, mapping] : llvm::enumerate(rule.operands)) {
    PaddingFill fill = rule.getPadding(index);
    if (fill == PaddingFill::Anything || !findDim(mapping, factor)) continue;
    Type element = tensorType(op->getOperand(index)).getElementType();
    if (!getFiller(builder, fill, rule.factors[factor].reduceKind, element)) return false;
    fills = true;
  }
  return fills;
}

bool BatchPadding::passesRows(Operation* op, const ShardingRule& rule, RowsFactor rowsFactor) const {
  const Factor& factor = rule.factors[rowsFactor.factor];
  auto isMajor = [&](const TensorMapping& mapping) { return isMajorIn(mapping, rowsFactor.factor); };
  if (factor.size % rows.getBatches()[rowsFactor.batch].rows != 0 || !llvm::all_of(rule.operands, isMajor) ||
      !llvm::all_of(rule.results, isMajor) || !writesWholeRows(op, rule, rowsFactor.factor))
    return false;
  if (factor.kind == FactorKind::PassThrough) return true;
  return factor.kind == FactorKind::Reduction && canFill(op, rule, rowsFactor.factor);
}

/// The factor that most bytes of the operands, as they are, and of the results agree on.
std::optional<RowsFactor> BatchPadding::chooseFactor(Operation* op, const ShardingRule& rule) {
  SmallVector<std::pair<RowsFactor, int64_t>, 2> bytes;
  auto count = [&](Value value, const TensorMapping& mapping, std::optional<RowsDim> dim) {
    if (!dim || mapping[dim->dim].empty()) return;
    RowsFactor factor{mapping[dim->dim].front(), dim->batch};
    if (!passesRows(op, rule, factor)) return;
    auto found = llvm::find_if(bytes, [&](const auto& entry) { return entry.first == factor; });
    if (found == bytes.end()) found = bytes.insert(found, {factor, 0});
    found->second += getByteSize(value.getType()) + 1;
  };
  for (auto [operand, mapping] : llvm::zip(op->getOperands(), rule.operands))
    count(operand, mapping, values.get(operand));
  for (auto [result, mapping] : llvm::zip(op->getResults(), rule.results)) count(result, mapping, rows.get(result));
  auto best = llvm::max_element(bytes, [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == bytes.end() ? std::nullopt : std::optional(best->first);
}

/// With padding along the dimension of the factor, which is filled where the op sums over it.
void BatchPadding::padOperand(OpOperand& operand, const ShardingRule& rule, RowsFactor rowsFactor) {
  std::optional<unsigned> dim = findDim(rule.operands[operand.getOperandNumber()], rowsFactor.factor);
  if (!dim) return values.bring(operand, std::nullopt);
  RowsDim rowsDim{rowsFactor.batch, *dim};
  const Factor& factor = rule.factors[rowsFactor.factor];
  OpBuilder builder(operand.getOwner());
  TypedAttr filler;
  if (factor.kind == FactorKind::Reduction)
    filler = getFiller(builder, rule.getPadding(operand.getOperandNumber()), factor.reduceKind,
                       tensorType(operand.get()).getElementType());
  filler ? values.fill(operand, rowsDim, filler) : values.bring(operand, rowsDim);
}

/// Sizes in attributes of an op that takes dimension `dim` of its first operand whole.
static void resizeAttributes(Operation* op, unsigned dim, int64_t from, int64_t to) {
  auto resized = [&](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> list(sizes);
    if (list[dim] == from) list[dim] = to;
    return list;
  };
  if (auto slice = dyn_cast<SliceOp>(op)) slice.setLimits(resized(slice.getLimits()));
  if (auto slice = dyn_cast<DynamicSliceOp>(op)) slice.setSizes(resized(slice.getSizes()));
  if (auto gather = dyn_cast<GatherOp>(op)) gather.setSliceSizes(resized(gather.getSliceSizes()));
}

void BatchPadding::visitRuled(Operation* op, const ShardingRule& rule) {
  std::optional<RowsFactor> chosen = chooseFactor(op, rule);
  if (!chosen) {
    for (OpOperand& operand : op->getOpOperands()) values.bring(operand, std::nullopt);
    return;
  }
  for (OpOperand& operand : op->getOpOperands()) padOperand(operand, rule, *chosen);
  const PaddedBatch& batch = rows.getBatches()[chosen->batch];
  if (std::optional<unsigned> dim = op->getNumOperands() ? findDim(rule.operands[0], chosen->factor) : std::nullopt) {
    int64_t size = tensorType(op->getOperand(0)).getDimSize(*dim);
    resizeAttributes(op, *dim, size / batch.padded * batch.rows, size);
  }
  for (auto [result, mapping] : llvm::zip(op->getResults(), rule.results))
    if (std::optional<unsigned> dim = findDim(mapping, chosen->factor)) values.setPadded(result, {chosen->batch, *dim});
}

// Loops, branches and the function
// ----------------------------------------------------------------------------------------

/// A loop or branch that each coordinate of leading dimensions runs by itself has the sizes that these have.
static bool isByCoordinate(DataFlowOpInterface op) {
  Value decider = op.getDecider();
  return decider && tensorType(decider).getRank() > 0;
}

void BatchPadding::visitDataFlow(DataFlowOpInterface op) {
  for (const DataFlowEdge& edge : op.getDataFlowEdges()) {
    std::optional<RowsDim> dim = isByCoordinate(op) ? std::nullopt : rows.get(edge.getOwner());
    if (!dim) continue;
    for (Value target : edge.targets) values.setPadded(target, *dim);
    for (OpOperand* source : edge.sources) wanted.try_emplace(source, *dim);
  }
  auto bring = [&](OpOperand& operand) {
    auto found = wanted.find(&operand);
    values.bring(operand, found == wanted.end() ? std::nullopt : std::optional(found->second));
  };
  llvm::for_each(op->getOpOperands(), bring);
  for (Region& region : op->getRegions()) {
    if (region.empty()) continue;
    visit(region.front());
    llvm::for_each(region.front().getTerminator()->getOpOperands(), bring);
  }
}

void BatchPadding::visit(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(block.without_terminator())) {
    if (auto flow = dyn_cast<DataFlowOpInterface>(op))
      visitDataFlow(flow);
    else if (auto found = rules.find(&op); found != rules.end())
      visitRuled(&op, found->second);
    else
      for (OpOperand& operand : op.getOpOperands()) values.bring(operand, std::nullopt);
  }
}

void BatchPadding::findRules() {
  for (Block* block : getProgramBlocks(function))
    for (Operation& op : *block) {
      bool isFree = op.getNumResults() == 1 && isMadeFreely(op.getResult(0));
      if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op); ruled && !isFree) rules[&op] = ruled.getShardingRule();
    }
}

void BatchPadding::padArguments() {
  for (BlockArgument argument : function.getArguments()) {
    std::optional<RowsDim> dim = rows.get(argument);
    if (!dim) continue;
    function.setArgAttr(argument.getArgNumber(), kUnpaddedTypeAttr, TypeAttr::get(argument.getType()));
    values.setPadded(argument, *dim);
  }
}

/// A result that is an argument of the next step is as that is; others keep the padding that they have.
void BatchPadding::padResults() {
  SmallVector<BlockArgument> next = getNextArguments(function);
  Operation* terminator = function.front().getTerminator();
  for (OpOperand& operand : terminator->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    std::optional<RowsDim> dim = values.get(next[index] ? Value(next[index]) : operand.get());
    values.bring(operand, dim);
    if (!dim) continue;
    RankedTensorType type = rows.withoutPadding(tensorType(operand.get()), *dim);
    function.setResultAttr(index, kUnpaddedTypeAttr, TypeAttr::get(type));
  }
  function.setType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));
}

void BatchPadding::run() {
  findRules();
  padArguments();
  visit(function.front());
  padResults();
}

// The pass
// --------------------------------------------------------------------------------------------------------------

/// As users know the argument, which may hold some rows of one of the program's text.
static std::string nameOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned index = argument.getArgNumber();
  if (auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr)) return name.str();
  auto whole = function.getArgAttrOfType<DenseI64ArrayAttr>(index, kWholeAttr);
  return "argument " + std::to_string(whole ? whole[0] : index);
}

/// Says how much is computed for padding, and warns of parts that are nothing else.
static void report(const PaddedBatch& batch, MeshAxisAttr axis) {
  int64_t part = batch.padded / axis.getSize(), used = llvm::divideCeil(batch.rows, part);
  if (used < axis.getSize()) {
    emitWarning(batch.first.getLoc()) << nameOf(batch.first) << " has " << batch.rows << " rows, " << part
                                      << " for each part of '" << axis.getName() << "': " << axis.getSize() - used
                                      << " of " << axis.getSize()
                                      << " parts have none and compute padding only; choose '" << axis.getName()
                                      << "' = " << used;
    return;
  }
  emitRemark(batch.first.getLoc()) << nameOf(batch.first) << " has " << batch.rows << " rows, which do not divide into "
                                   << axis.getSize() << " equal parts on each rank; " << batch.padded
                                   << " are computed, " << batch.padded - batch.rows << " of them padding";
}

namespace {
struct PadBatchPass : mlir::sgd::impl::PadBatchPassBase<PadBatchPass> {
  using PadBatchPassBase::PadBatchPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    MeshAxisAttr axis = getSequentialAxis(mesh);
    if (!axis || axis.getSize() == 1) return;
    MeshAxes ranks(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      BatchRows rows(function, ranks, axis);
      if (rows.getBatches().empty()) continue;
      for (const PaddedBatch& batch : rows.getBatches()) report(batch, axis);
      BatchPadding(function, rows).run();
    }
  }
};
}  // namespace
