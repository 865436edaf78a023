// As PyTorch's autocast: by op, and a type goes on where it can.
#include "passes/graph/training/precision.h"

#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/roles.h"
#include "passes/graph/expressions/tensor_math.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

bool isWideFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

bool isContraction(Operation* op) { return isa<DotGeneralOp, ConvolutionOp>(op); }

/// Ops that give narrow results of narrow operands without a loss that matters.
bool isFlexible(Operation* op) {
  return op->hasTrait<MovesElements>() || isa<arith::SelectOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
                                              arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, math::AbsFOp>(op);
}

bool isMovement(Operation* op) { return op->hasTrait<MovesElements>() && op->getNumOperands() == 1; }

class Narrowing {
 public:
  Narrowing(func::FuncOp function, Type element, llvm::function_ref<bool(Operation*)> staysWide)
      : function(function), element(element), staysWide(staysWide), builder(function.getContext()) {}

  void run() {
    SmallVector<Operation*> ops;
    function.walk<WalkOrder::PreOrder>([&](Operation* op) { ops.push_back(op); });
    for (Operation* op : ops)
      if (mayBeNarrow(op)) narrow(op);
    for (Operation* op : llvm::reverse(replaced)) op->erase();
    for (Value wide : llvm::reverse(widened))
      if (wide.use_empty()) wide.getDefiningOp()->erase();
  }

 private:
  bool mayBeNarrow(Operation* op) {
    bool isCandidate = isContraction(op) || isFlexible(op);
    if (!isCandidate || staysWide(op) || op->getNumResults() != 1 || !isWideFloat(op->getResult(0))) return false;
    auto wide = llvm::make_filter_range(op->getOperands(), isWideFloat);
    if (isContraction(op)) return llvm::range_size(wide) == op->getNumOperands();
    bool isAnyNarrow = llvm::any_of(wide, [&](Value operand) { return narrowOf.contains(operand); });
    return isAnyNarrow && llvm::all_of(wide, [&](Value operand) { return isCheap(operand); });
  }

  /// Whether an operand is narrow already, or a number or a parameter.
  bool isCheap(Value value) {
    if (narrowOf.contains(value)) return true;
    while (Operation* op = value.getDefiningOp()) {
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) return isa<SplatElementsAttr>(constant.getValue());
      if (!isMovement(op)) return false;
      value = op->getOperand(0);
    }
    auto argument = cast<BlockArgument>(value);
    return argument.getOwner() == &function.front() && getRole(function, argument.getArgNumber()) == Role::Parameter;
  }

  Value getNarrow(Value value) {
    if (!isWideFloat(value)) return value;
    Value& known = narrowOf[value];
    if (known) return known;
    builder.setInsertionPointAfterValue(value);
    auto type = cast<RankedTensorType>(value.getType()).clone(element);
    return known = arith::TruncFOp::create(builder, value.getLoc(), type, value);
  }

  void narrow(Operation* op) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) mapping.map(operand, getNarrow(operand));
    builder.setInsertionPoint(op);
    Operation* clone = builder.clone(*op, mapping);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    clone->getResult(0).setType(type.clone(element));
    Value wide = arith::ExtFOp::create(builder, op->getLoc(), type, clone->getResult(0));
    op->getResult(0).replaceAllUsesWith(wide);
    narrowOf[wide] = clone->getResult(0);
    widened.push_back(wide);
    replaced.push_back(op);
  }

  func::FuncOp function;
  Type element;
  llvm::function_ref<bool(Operation*)> staysWide;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> narrowOf;  // of values of f32
  SmallVector<Value> widened;
  SmallVector<Operation*> replaced;
};

}  // namespace

void mlir::sgd::narrowCompute(func::FuncOp function, NarrowType type, llvm::function_ref<bool(Operation*)> staysWide) {
  Builder builder(function.getContext());
  Type element = type == NarrowType::BFloat16 ? Type(builder.getBF16Type()) : Type(builder.getF16Type());
  Narrowing(function, element, staysWide).run();
}

void mlir::sgd::widenSums(MutableArrayRef<Value> gradients) {
  for (Value& gradient : gradients) {
    auto extension = gradient.getDefiningOp<arith::ExtFOp>();
    if (!extension) continue;
    // A gradient may be moved between the contraction and here.
    SmallVector<Operation*> ops;
    Operation* op = extension.getIn().getDefiningOp();
    while (op && isa<ReshapeOp, TransposeOp>(op) && op->hasOneUse()) {
      ops.push_back(op);
      op = op->getOperand(0).getDefiningOp();
    }
    if (!op || !isContraction(op) || !op->hasOneUse()) continue;
    ops.push_back(op);
    Type wide = tensorType(gradient).getElementType();
    for (Operation* one : ops) one->getResult(0).setType(tensorType(one->getResult(0)).clone(wide));
    Value sum = extension.getIn();
    extension.replaceAllUsesWith(sum);
    extension.erase();
    gradient = sum;
  }
}
