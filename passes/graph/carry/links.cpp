// One walk forward; another one, for dependence, where that is asked for.
#include "passes/graph/carry/links.h"

#include "passes/graph/carry/value_sources.h"

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
  OpLinks links = getOpLinks(op);
  if (links.form != OpLinks::Form::Each) return visitProduct(op, links.form == OpLinks::Form::Quotient);
  for (auto [operand, link] : llvm::zip_equal(op->getOperands(), links.operands))
    if (link != Link::None) follow(op->getResult(0), operand, link);
}

void Links::visitProduct(Operation* op, bool isQuotient) {
  Value result = op->getResult(0), lhs = op->getOperand(0), rhs = op->getOperand(1);
  // Where both come from one argument, it is neither's factor.
  llvm::DenseSet<Value> left = getSources(lhs), right = getSources(rhs);
  for (Value argument : left) {
    Link link = right.contains(argument) ? Link::Elementwise : getFactorLink(rhs, isQuotient);
    add(result, argument, compose(link, lookup(lhs, argument)));
  }
  for (Value argument : right) {
    Link link = left.contains(argument) || isQuotient ? Link::Elementwise : getFactorLink(lhs, false);
    add(result, argument, compose(link, lookup(rhs, argument)));
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
static void visitOutsideSources(OpResult result, llvm::function_ref<void(Value)> visit) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open;
  auto push = [&](Value value) {
    if (!seen.insert(value).second) return;
    if (value != result && value.getParentBlock() == result.getOwner()->getBlock())
      visit(value);
    else
      open.push_back(value);
  };
  push(result);
  while (!open.empty()) visitSources(open.pop_back_val(), push);
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
        visitOutsideSources(result, addAll);
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
