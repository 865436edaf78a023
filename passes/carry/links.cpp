// One walk forward; another one, for dependence, where that is asked for.
#include "passes/carry/links.h"

#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;

Link mlir::sgd::compose(Link outer, Link inner) {
  if (outer == Link::None || inner == Link::None) return Link::None;
  if (outer == Link::Same) return inner;
  if (inner == Link::Same) return outer;
  if (outer == Link::Elementwise || inner == Link::Elementwise) return Link::Elementwise;
  if (outer == Link::Addend) return inner;
  if (inner == Link::Addend) return outer;
  return Link::Scaled;
}

static bool isWithinKind(Type from, Type to) {
  return isa<FloatType>(getElementTypeOrSelf(from)) == isa<FloatType>(getElementTypeOrSelf(to));
}

/// The op that makes the elements of `value`, which conversions and broadcasts only repeat.
static Operation* getElementSource(Value value) {
  Operation* op = value.getDefiningOp();
  while (op && (movesOneTensor(op) || isa<arith::ExtFOp, arith::TruncFOp>(op))) op = op->getOperand(0).getDefiningOp();
  return op;
}

static std::optional<double> getConstant(Value value) {
  auto constant = dyn_cast_or_null<arith::ConstantOp>(getElementSource(value));
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat()) return std::nullopt;
  if (isa<FloatType>(elements.getElementType())) return elements.getSplatValue<APFloat>().convertToDouble();
  if (elements.getElementType().isInteger(1)) return std::nullopt;
  if (isa<IntegerType>(elements.getElementType()))
    return static_cast<double>(elements.getSplatValue<APInt>().getSExtValue());
  return std::nullopt;
}

/// What a product with `factor` is of the other operand.
static Link getProductLink(Value factor, bool isQuotient) {
  if (std::optional<double> constant = getConstant(factor)) {
    double scale = isQuotient && *constant != 0 ? 1 / *constant : *constant;
    return scale == 1 ? Link::Same : scale > 0.5 && scale < 1 ? Link::NearOne : Link::Scaled;
  }
  auto difference = dyn_cast_or_null<arith::SubFOp>(getElementSource(factor));
  bool isOneMinus = difference && !isQuotient && getConstant(difference.getLhs()) == 1.0;
  return isOneMinus ? Link::NearOne : Link::Scaled;
}

static bool isProduct(Operation* op) { return isa<arith::MulFOp, arith::MulIOp>(op); }
static bool isQuotient(Operation* op) { return isa<arith::DivFOp, DivSIOp, DivUIOp>(op); }

/// Ops that leave the elements of operand 0 as they are, as far as links go.
static bool keepsElements(Operation* op) {
  return keepsAllElements(op) ||
         isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
}

/// Ops whose result is one of these operands in each element.
static SmallVector<unsigned> getChosenOperands(Operation* op) {
  if (isa<arith::SelectOp>(op)) return {1, 2};
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp,
          arith::MaxUIOp, arith::MinUIOp>(op))
    return {0, 1};
  if (isa<DynamicUpdateSliceOp, ScatterOp>(op)) return {0};
  return {};
}

Links::Links(func::FuncOp function) : function(function) { visit(function.front()); }

Link Links::lookup(Value value, Value argument) const {
  if (value == argument) return Link::Same;
  auto found = links.find(value);
  if (found == links.end()) return Link::None;
  auto pair = llvm::find_if(found->second, [&](const auto& entry) { return entry.first == argument; });
  return pair == found->second.end() ? Link::None : pair->second;
}

void Links::add(Value value, Value argument, Link link) {
  if (link == Link::None) return;
  ValueLinks& list = links[value];
  auto pair = llvm::find_if(list, [&](const auto& entry) { return entry.first == argument; });
  if (pair == list.end())
    list.push_back({argument, link});
  else
    pair->second = std::max(pair->second, link);
}

/// `value` is linked to `operand` by `link`, and so to all that this is linked to.
void Links::follow(Value value, Value operand, Link link) {
  if (isa<BlockArgument>(operand)) return add(value, operand, link);
  auto found = links.find(operand);
  if (found == links.end()) return;
  ValueLinks of = found->second;  // add() may move the map
  for (auto [argument, inner] : of) add(value, argument, compose(link, inner));
}

void Links::visit(Block& block) {
  for (Operation& op : block) visit(&op);
}

void Links::visit(Operation* op) {
  if (auto flow = dyn_cast<DataFlowOpInterface>(op)) return visitDataFlow(flow);
  if (op->getNumResults() != 1) return;
  Value result = op->getResult(0);
  if (keepsElements(op)) return follow(result, op->getOperand(0), Link::Same);
  if (SmallVector<unsigned> chosen = getChosenOperands(op); !chosen.empty()) {
    for (unsigned operand : chosen) follow(result, op->getOperand(operand), Link::Addend);
    return;
  }
  if (isa<spmd::AllReduceOp>(op)) {
    for (Value operand : op->getOperands()) follow(result, operand, Link::Scaled);
    return;
  }
  if (isa<arith::AddFOp, arith::AddIOp>(op)) {
    for (Value operand : op->getOperands()) follow(result, operand, Link::Addend);
  } else if (isa<arith::SubFOp, arith::SubIOp>(op)) {
    follow(result, op->getOperand(0), Link::Addend);
    follow(result, op->getOperand(1), Link::Scaled);
  } else if (isa<arith::NegFOp>(op)) {
    follow(result, op->getOperand(0), Link::Scaled);
  } else if (isProduct(op) || isQuotient(op)) {
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    // Where both come from one argument, it is neither's factor.
    llvm::DenseSet<Value> left = getSources(lhs), right = getSources(rhs);
    for (Value argument : left) {
      Link link = right.contains(argument) ? Link::Elementwise : getProductLink(rhs, isQuotient(op));
      add(result, argument, compose(link, lookup(lhs, argument)));
    }
    for (Value argument : right) {
      Link link = left.contains(argument) || isQuotient(op) ? Link::Elementwise : getProductLink(lhs, false);
      add(result, argument, compose(link, lookup(rhs, argument)));
    }
  } else if (op->hasTrait<OpTrait::Elementwise>() || isPure(op)) {
    if (!op->hasTrait<OpTrait::Elementwise>()) return;
    for (Value operand : op->getOperands()) follow(result, operand, Link::Elementwise);
  }
}

/// The arguments that `value` is linked to.
llvm::DenseSet<Value> Links::getSources(Value value) const {
  llvm::DenseSet<Value> sources;
  if (isa<BlockArgument>(value)) sources.insert(value);
  if (auto found = links.find(value); found != links.end())
    for (auto [argument, link] : found->second) sources.insert(argument);
  return sources;
}

/// A result is what the regions yield for it, whose arguments are the operands; without regions it is an operand. Of
/// loops one pass is enough: what the second one links to, the first one has linked.
void Links::visitDataFlow(DataFlowOpInterface op) {
  for (Region& region : op->getRegions())
    for (Block& block : region) visit(block);
  SmallVector<DataFlowEdge> edges = op.getDataFlowEdges();
  auto followYielded = [&](OpResult result, OpOperand& yielded) {
    for (const DataFlowEdge& edge : edges)
      for (Value argument : edge.targets)
        if (argument.getParentBlock() == yielded.getOwner()->getBlock())
          follow(result, edge.sources.front()->get(), lookup(yielded.get(), argument));
  };
  for (const DataFlowEdge& edge : edges) {
    OpResult result = edge.getResult();
    if (!result) continue;
    for (OpOperand* source : edge.sources)
      if (source->getOwner() != op)
        followYielded(result, *source);
      else if (op->getNumRegions() == 0)
        follow(result, source->get(), Link::Same);
  }
}

Link Links::get(unsigned result, unsigned argument) {
  return lookup(function.front().getTerminator()->getOperand(result), function.getArgument(argument));
}

/// Calls `visit` with what `result`, of an op with data-flow edges, is computed from outside of the op.
static void visitSources(OpResult result, llvm::function_ref<void(Value)> visit) {
  Operation* op = result.getOwner();
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open;
  auto push = [&](Value value) {
    if (!seen.insert(value).second) return;
    if (value != result && value.getParentBlock() == op->getBlock())
      visit(value);
    else
      open.push_back(value);
  };
  push(result);
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation* owner = isa<BlockArgument>(next) ? next.getParentBlock()->getParentOp() : next.getDefiningOp();
    auto flow = dyn_cast<DataFlowOpInterface>(owner);
    if (!flow) {
      for (Value operand : owner->getOperands()) push(operand);
      continue;
    }
    DataFlowEdge edge = flow.getDataFlowEdge(flow.getDataFlowEdgeInto(next));
    for (OpOperand* source : edge.sources) push(source->get());
    if (Value decider = flow.getDecider(); decider && isa<OpResult>(next)) push(decider);
  }
}

/// The arguments that each value of the function's own block is computed from.
void Links::findSources() {
  unsigned numArguments = function.getNumArguments();
  for (BlockArgument argument : function.getArguments())
    sources.try_emplace(argument, numArguments).first->second.set(argument.getArgNumber());
  for (Operation& op : function.front()) {
    for (OpResult result : op.getResults()) {
      llvm::BitVector all(numArguments);
      auto addAll = [&](Value value) { all |= sources.find(value)->second; };
      if (isa<DataFlowOpInterface>(op))
        visitSources(result, addAll);
      else
        llvm::for_each(op.getOperands(), addAll);
      sources.try_emplace(result, std::move(all));
    }
  }
}

bool Links::reaches(Value value, Value argument) {
  if (sources.empty()) findSources();
  return sources.find(value)->second.test(cast<BlockArgument>(argument).getArgNumber());
}

bool Links::depends(unsigned result, unsigned argument) {
  return reaches(function.front().getTerminator()->getOperand(result), function.getArgument(argument));
}

/// Whether `value`, which is linked to `argument`, depends on it otherwise too.
bool Links::restDepends(Value value, Value argument) {
  llvm::DenseSet<Value> seen = {value};
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == argument) continue;
    Operation* op = next.getDefiningOp();
    if (!op || (isa<DataFlowOpInterface>(op) && op->getNumRegions() != 0)) return true;
    for (Value operand : op->getOperands()) {
      if (!seen.insert(operand).second) continue;
      Link link = lookup(operand, argument);
      if (link == Link::Elementwise || (link == Link::None && reaches(operand, argument))) return true;
      if (link != Link::None) open.push_back(operand);
    }
  }
  return false;
}

bool Links::isUpdate(unsigned result, unsigned argument) {
  Link link = get(result, argument);
  if (link == Link::Addend || link == Link::NearOne) return true;
  return link == Link::Scaled &&
         !restDepends(function.front().getTerminator()->getOperand(result), function.getArgument(argument));
}

bool Links::isRoundedUpdate(unsigned result) {
  for (BlockArgument argument : function.getArguments()) {
    bool isOther = argument.getType() != function.getResultTypes()[result] &&
                   isWithinKind(argument.getType(), function.getResultTypes()[result]);
    if (isOther && isUpdate(result, argument.getArgNumber())) return true;
  }
  return false;
}
