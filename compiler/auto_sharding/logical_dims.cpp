// Factors of sharding rules join dimensions, as in the analysis of TOAST (Alabed et al., 2025, arXiv 2508.15010);
// edges of loops and branches, and results that are arguments of the next step, do too.
#include "compiler/auto_sharding/logical_dims.h"

#include "dialects/sgd/scalar_body.h"
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/sharding_rule.h"
#include "llvm/ADT/IntEqClasses.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class DimUnion {
 public:
  explicit DimUnion(func::FuncOp function) : function(function) {}

  std::vector<LogicalDim> run();

 private:
  void number(Value value);
  void tie(Operation* op);
  void tie(Value value, const TensorMapping& mapping, const ShardingRule& rule, unsigned firstFactor);
  void tieAlike(Value left, Value right);
  void tieCarried();
  void visit(llvm::function_ref<void(Operation*)> fn);

  func::FuncOp function;
  llvm::DenseMap<Value, unsigned> first;  // node of dimension 0; the others follow
  std::vector<int64_t> sizes;             // by node
  std::vector<std::pair<unsigned, unsigned>> ties;
};

}  // namespace

/// Ops of the program: not those in the bodies of kernels.
void DimUnion::visit(llvm::function_ref<void(Operation*)> fn) {
  function.walk<WalkOrder::PreOrder>([&](Operation* op) {
    fn(op);
    return hasScalarBody(op) ? WalkResult::skip() : WalkResult::advance();
  });
}

void DimUnion::number(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !first.try_emplace(value, sizes.size()).second) return;
  llvm::append_range(sizes, type.getShape());
}

void DimUnion::tie(Value value, const TensorMapping& mapping, const ShardingRule& rule, unsigned firstFactor) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) return;
  for (auto [dim, factors] : llvm::enumerate(mapping)) {
    auto outer = llvm::find_if(factors, [&](unsigned factor) { return rule.factors[factor].size > 1; });
    if (outer == factors.end() || type.getDimSize(dim) == 1 || !rule.factors[*outer].canBeSharded()) continue;
    ties.emplace_back(first.at(value) + dim, firstFactor + *outer);
  }
}

void DimUnion::tie(Operation* op) {
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op)) {
    ShardingRule rule = ruled.getShardingRule();
    unsigned firstFactor = sizes.size();
    for (const Factor& factor : rule.factors) sizes.push_back(factor.size);
    for (auto [operand, mapping] : llvm::zip(op->getOperands(), rule.operands))
      tie(operand, mapping, rule, firstFactor);
    for (auto [result, mapping] : llvm::zip(op->getResults(), rule.results)) tie(result, mapping, rule, firstFactor);
  }
  for (const DataFlowEdge& edge : getDataFlowEdges(op)) {
    for (OpOperand* source : edge.sources) tieAlike(source->get(), edge.getOwner());
    for (Value target : edge.targets) tieAlike(target, edge.getOwner());
  }
}

void DimUnion::tieAlike(Value left, Value right) {
  auto type = dyn_cast<RankedTensorType>(left.getType());
  if (!type || left == right || left.getType() != right.getType()) return;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) ties.emplace_back(first.at(left) + dim, first.at(right) + dim);
}

void DimUnion::tieCarried() {
  Operation* end = function.getBody().front().getTerminator();
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (std::optional<unsigned> argument = getCarriedArgument(function, result))
      tieAlike(end->getOperand(result), function.getArgument(*argument));
}

std::vector<LogicalDim> DimUnion::run() {
  for (BlockArgument argument : function.getArguments()) number(argument);
  visit([&](Operation* op) {
    for (Value result : op->getResults()) number(result);
    if (hasScalarBody(op)) return;
    for (Region& region : op->getRegions())
      for (Block& block : region)
        for (BlockArgument argument : block.getArguments()) number(argument);
  });
  visit([&](Operation* op) {
    if (op != function) tie(op);
  });
  tieCarried();
  llvm::IntEqClasses classes(sizes.size());
  for (auto [left, right] : ties) classes.join(left, right);
  classes.compress();
  std::vector<int64_t> least(classes.getNumClasses(), std::numeric_limits<int64_t>::max());
  for (auto [node, size] : llvm::enumerate(sizes))
    if (size > 1) least[classes[node]] = std::min(least[classes[node]], size);
  std::vector<LogicalDim> dims;
  llvm::DenseMap<unsigned, unsigned> position;  // by class
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (type.getDimSize(dim) <= 1) continue;
      unsigned of = classes[first.at(argument) + dim];
      auto [known, isNew] = position.try_emplace(of, dims.size());
      if (isNew) dims.push_back({{}, least[of]});
      dims[known->second].members.push_back({argument.getArgNumber(), static_cast<unsigned>(dim)});
    }
  }
  return dims;
}

std::vector<LogicalDim> mlir::sgd::findLogicalDims(func::FuncOp function) { return DimUnion(function).run(); }
