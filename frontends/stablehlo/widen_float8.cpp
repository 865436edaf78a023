// Converts around single ops, and the bodies of those that have some; see widen_float8.h.
#include "frontends/stablehlo/widen_float8.h"

#include "dialects/sgd/sgd_dialect.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

bool holdsFloat8(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isFloat8(tensor.getElementType());
}

/// Whether the body only picks one of its arguments.
bool isExtremum(Region& body) {
  return llvm::all_of(body.front().without_terminator(),
                      [](Operation& op) { return isa<stablehlo::MaxOp, stablehlo::MinOp>(op); });
}

/// Whether the lowering of the op has steps between, or constants, that f8 does not hold.
bool hasSteps(Operation* op) {
  if (isa<chlo::TopKOp, chlo::NextAfterOp>(op)) return false;
  return isa_and_nonnull<chlo::ChloDialect>(op->getDialect()) ||
         isa<stablehlo::Atan2Op, stablehlo::IsFiniteOp, stablehlo::LogisticOp, stablehlo::PowOp>(op);
}

/// The type that elements of f8 are converted to while `op` computes; null where it keeps them.
Type getWorkingType(Operation* op) {
  Builder builder(op->getContext());
  bool hasBody = op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock();
  if (isa<stablehlo::GatherOp>(op)) return builder.getI8Type();
  if (isa<stablehlo::ScatterOp>(op) && hasBody && op->getRegion(0).front().without_terminator().empty())
    return builder.getI8Type();
  if (isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::AllReduceOp, stablehlo::ReduceScatterOp>(op) &&
      hasBody && isExtremum(op->getRegion(0)))
    return builder.getF16Type();
  bool combines = isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::AllReduceOp,
                      stablehlo::ReduceScatterOp, stablehlo::ScatterOp, stablehlo::SelectAndScatterOp,
                      stablehlo::ConvolutionOp, stablehlo::DotGeneralOp, stablehlo::DotOp,
                      stablehlo::BatchNormTrainingOp, stablehlo::BatchNormInferenceOp, stablehlo::BatchNormGradOp>(op);
  return combines || hasSteps(op) ? builder.getF32Type() : Type();
}

class Widening {
 public:
  Widening(Operation* op, Type element) : op(op), element(element), builder(op) {}

  void run() {
    // Matmuls read operands of f8 as they are.
    if (!isa<stablehlo::DotGeneralOp, stablehlo::DotOp>(op))
      for (OpOperand& operand : op->getOpOperands())
        if (holdsFloat8(operand.get().getType())) operand.set(convert(operand.get(), widen(operand.get().getType())));
    for (Region& region : op->getRegions()) widenBody(region);
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      Type narrow = result.getType();
      if (!holdsFloat8(narrow)) continue;
      result.setType(widen(narrow));
      Value converted = convert(result, narrow);
      result.replaceAllUsesExcept(converted, converted.getDefiningOp());
    }
  }

 private:
  Type widen(Type type) const { return cast<RankedTensorType>(type).clone(element); }

  Value convert(Value value, Type type) {
    if (isa<IntegerType>(element)) return stablehlo::BitcastConvertOp::create(builder, op->getLoc(), type, value);
    return stablehlo::ConvertOp::create(builder, op->getLoc(), type, value);
  }

  void widenBody(Region& region) {
    auto widenValue = [&](Value value) {
      if (holdsFloat8(value.getType())) value.setType(widen(value.getType()));
    };
    for (Block& block : region)
      for (BlockArgument argument : block.getArguments()) widenValue(argument);
    region.walk([&](Operation* inner) {
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(inner); constant && holdsFloat8(constant.getType()))
        constant.setValueAttr(widenConstant(cast<DenseFPElementsAttr>(constant.getValue())));
      for (Value result : inner->getResults()) widenValue(result);
    });
  }

  ElementsAttr widenConstant(DenseFPElementsAttr constant) const {
    auto semantics = [](Type type) -> const llvm::fltSemantics& { return cast<FloatType>(type).getFloatSemantics(); };
    return constant.mapValues(element, [&](const APFloat& value) {
      APFloat wide = value;
      bool losesInfo;
      wide.convert(semantics(element), APFloat::rmNearestTiesToEven, &losesInfo);
      return wide.bitcastToAPInt();
    });
  }

  Operation* op;
  Type element;
  OpBuilder builder;
};

}  // namespace

void mlir::sgd::widenFloat8(ModuleOp module) {
  SmallVector<std::pair<Operation*, Type>> found;
  module.walk<WalkOrder::PreOrder>([&](Operation* op) {
    Type working = getWorkingType(op);
    bool holds = llvm::any_of(op->getOperandTypes(), holdsFloat8) || llvm::any_of(op->getResultTypes(), holdsFloat8);
    if (!working || !holds) return WalkResult::advance();
    found.emplace_back(op, working);
    return WalkResult::skip();
  });
  for (auto [op, working] : found) Widening(op, working).run();
}
