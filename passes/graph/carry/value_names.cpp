// Follows elements forward to results and back to arguments; roles tell parameters from other state.
#include "passes/graph/carry/value_names.h"

#include "dialects/sgd/compression.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/scope.h"
#include "dialects/sgd/sgd_dialect.h"
#include "llvm/ADT/SetVector.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/op_links.h"
#include "runtime/artifact/tensor_path.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Enough for an optimizer's update, and a bound for programs that are nothing but elementwise.
constexpr size_t kMostValues = 512;

/// A result of the function that the elements of a value become part of.
struct ReachedResult {
  unsigned result = 0;
  bool isSame = false;  ///< it is the value, moved at most
};

/// Calls `visit` with each value that has the elements of `use`'s value in it, and whether they are the same.
void visitNext(OpOperand& use, llvm::function_ref<void(Value, bool isSame)> visit) {
  Operation* op = use.getOwner();
  Operation* carrier = op->hasTrait<OpTrait::IsTerminator>() ? op->getParentOp() : op;
  if (auto flow = dyn_cast<DataFlowOpInterface>(carrier)) {
    if (std::optional<unsigned> edge = flow.getDataFlowEdgeFrom(use))
      for (Value target : flow.getDataFlowEdge(*edge).targets) visit(target, true);
    return;
  }
  if (isa<ReshardOp, CompressedReductionOp>(op)) return visit(op->getResult(0), true);
  if (op->getNumResults() != 1) return;
  OpLinks links = getOpLinks(op);
  if (links.form != OpLinks::Form::Each) return visit(op->getResult(0), false);
  Link link = links.operands[use.getOperandNumber()];
  if (link != Link::None) visit(op->getResult(0), link == Link::Same);
}

SmallVector<ReachedResult> findResults(Value value) {
  SmallVector<ReachedResult> reached;
  llvm::SetVector<Value> values;
  DenseMap<Value, bool> areSame = {{value, true}};
  values.insert(value);
  for (size_t i = 0; i < values.size() && values.size() < kMostValues; ++i)
    for (OpOperand& use : values[i].getUses()) {
      bool isSame = areSame[values[i]];
      if (isa<func::ReturnOp>(use.getOwner())) {
        reached.push_back({use.getOperandNumber(), isSame});
        continue;
      }
      visitNext(use, [&](Value next, bool staysSame) {
        if (values.insert(next)) areSame[next] = isSame && staysSame;
      });
    }
  return reached;
}

/// The argument of the function that `value` is, moved or cut at most.
std::optional<unsigned> findArgument(Value value) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return argument.getArgNumber();
    Operation* owner = isa<BlockArgument>(value) ? value.getParentBlock()->getParentOp() : value.getDefiningOp();
    if (auto flow = dyn_cast<DataFlowOpInterface>(owner)) {
      if (!isa<BlockArgument>(value)) return std::nullopt;
      value = flow.getDataFlowEdge(flow.getDataFlowEdgeInto(value)).sources.front()->get();
      continue;
    }
    if (isa<ReshardOp, SliceOp, DynamicSliceOp>(owner)) {
      value = owner->getOperand(0);
      continue;
    }
    if (owner->getNumResults() != 1 || owner->getNumOperands() == 0) return std::nullopt;
    OpLinks links = getOpLinks(owner);
    if (links.form != OpLinks::Form::Each || links.operands[0] != Link::Same) return std::nullopt;
    value = owner->getOperand(0);
  }
}

std::string getResultName(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, kNameAttr);
  return name ? getDottedName(name.getValue()) : "result" + std::to_string(result);
}

/// The one parameter whose next value has elements of `reached` in it; nothing for none and for several.
std::optional<unsigned> findParameter(func::FuncOp function, ArrayRef<ReachedResult> reached) {
  std::optional<unsigned> found;
  for (ReachedResult one : reached) {
    std::optional<unsigned> argument = getCarriedArgument(function, one.result);
    if (!argument || getRole(function, *argument) != Role::Parameter) continue;
    if (found && *found != *argument) return std::nullopt;
    found = argument;
  }
  return found;
}

/// "new params.w" or "result.loss", of what is a result as it is.
std::string describeResult(func::FuncOp function, ArrayRef<ReachedResult> reached) {
  for (ReachedResult one : reached) {
    if (!one.isSame) continue;
    std::optional<unsigned> argument = getCarriedArgument(function, one.result);
    return argument ? "new " + getDottedName(function, *argument) : getResultName(function, one.result);
  }
  return "";
}

}  // namespace

std::string mlir::sgd::getDottedName(StringRef name) {
  return ::sgd::artifact::DottedText(::sgd::artifact::ArgumentPath({name.data(), name.size()}));
}

std::string mlir::sgd::getDottedName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return name ? getDottedName(name.getValue()) : "argument " + std::to_string(argument);
}

std::string mlir::sgd::describeValue(func::FuncOp function, Value value) {
  if (std::optional<unsigned> argument = findArgument(value))
    return (getRole(function, *argument) == Role::Input ? "input " : "") + getDottedName(function, *argument);
  SmallVector<ReachedResult> reached = findResults(value);
  if (std::string name = describeResult(function, reached); !name.empty()) return name;
  if (std::optional<unsigned> parameter = findParameter(function, reached))
    return "gradient of " + getDottedName(function, *parameter);
  for (Operation* user : value.getUsers()) {
    if (isa<ReshardOp>(user) && user->hasOneUse()) user = *user->user_begin();
    if (user->getNumResults() != 1 || isa<DataFlowOpInterface>(user)) continue;
    if (std::optional<unsigned> parameter = findParameter(function, findResults(user->getResult(0))))
      return "activations for the gradient of " + getDottedName(function, *parameter);
  }
  std::string scope = getScope(value.getLoc()).path;
  return scope.empty() ? "" : "activations of " + scope;
}
