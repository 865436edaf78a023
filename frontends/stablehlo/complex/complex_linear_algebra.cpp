// Expands linear algebra on complex matrices: to calls of LAPACK's routines for them on parts, which the importer knows
// (lapack_calls.h): two operands and results instead of each complex one.
#include "frontends/stablehlo/complex/complex_linear_algebra.h"

#include "frontends/stablehlo/input/library_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Layouts of the values of `types`, repeated for parts.
ArrayAttr repeatLayouts(std::optional<ArrayAttr> layouts, TypeRange types) {
  if (!layouts || layouts->size() != types.size()) return {};
  SmallVector<Attribute> repeated;
  for (auto [layout, type] : llvm::zip_equal(*layouts, types)) repeated.append(isComplex(type) ? 2 : 1, layout);
  return ArrayAttr::get(layouts->getContext(), repeated);
}

/// The results of LAPACK's `routine` for matrices of `element`.
ResultRange callLapack(ComplexOp& c, StringRef routine, Type element, ValueRange operands, TypeRange results,
                       ArrayRef<std::pair<StringRef, char>> parameters) {
  OperationState state(c.loc, stablehlo::CustomCallOp::getOperationName(), operands, results);
  std::string target = ("lapack_" + Twine(element.isF64() ? "z" : "c") + routine + "_ffi").str();
  state.addAttribute("call_target_name", c.builder.getStringAttr(target));
  NamedAttrList config;
  auto character = IntegerType::get(c.builder.getContext(), 8, IntegerType::Unsigned);
  for (auto [name, value] : parameters) config.append(name, c.builder.getIntegerAttr(character, value));
  state.addAttribute("mhlo.backend_config", config.getDictionary(c.builder.getContext()));
  return c.builder.create(state)->getResults();
}

/// As XLA: NaN where a matrix is not positive definite.
LogicalResult expandCholesky(ComplexOp& c) {
  Complex a = c.operand();
  RankedTensorType type = tensorType(a.re);
  if (type.getRank() < 2) return c.error() << "needs a batch of matrices";
  auto info = RankedTensorType::get(type.getShape().drop_back(2), c.builder.getI32Type());
  char triangle = cast<stablehlo::CholeskyOp>(c.op).getLower() ? 'L' : 'U';
  ResultRange results =
      callLapack(c, "potrf", type.getElementType(), {a.re, a.im}, {type, type, info}, {{"uplo", triangle}});
  Value zero = c.constant(DenseElementsAttr::get(info, APInt(32, 0)));
  Value isRight = c.compare(stablehlo::ComparisonDirection::EQ, results[2], zero, stablehlo::ComparisonType::SIGNED);
  Value everywhere = c.broadcast(isRight, type.getShape(), llvm::to_vector(llvm::seq<int64_t>(0, info.getRank())));
  Value nan = c.splat(type, std::numeric_limits<double>::quiet_NaN());
  return c.finish(c.select(everywhere, Complex{results[0], results[1]}, Complex{nan, nan}));
}

LogicalResult expandTriangularSolve(ComplexOp& c) {
  auto solve = cast<stablehlo::TriangularSolveOp>(c.op);
  if (!c.isComplexOperand(0) || !c.isComplexOperand(1)) return c.error() << "needs two operands of one type";
  char transpose = 'N';
  if (solve.getTransposeA() == stablehlo::Transpose::TRANSPOSE) transpose = 'T';
  if (solve.getTransposeA() == stablehlo::Transpose::ADJOINT) transpose = 'C';
  if (solve.getTransposeA() == stablehlo::Transpose::TRANSPOSE_INVALID)
    return c.error() << "has an invalid transpose_a";
  Type part = getPartType(c.op->getResult(0).getType());
  ResultRange results =
      callLapack(c, "trsm", cast<RankedTensorType>(part).getElementType(), c.getExpandedOperands(), {part, part},
                 {{"side", solve.getLeftSide() ? 'L' : 'R'},
                  {"uplo", solve.getLower() ? 'L' : 'U'},
                  {"trans_x", transpose},
                  {"diag", solve.getUnitDiagonal() ? 'U' : 'N'}});
  return c.finish(Complex{results[0], results[1]});
}

}  // namespace

LogicalResult mlir::sgd::expandLapackCall(ComplexOp& c) {
  auto call = cast<stablehlo::CustomCallOp>(c.op);
  ArrayAttr operandLayouts = repeatLayouts(call.getOperandLayouts(), call.getOperandTypes());
  ArrayAttr resultLayouts = repeatLayouts(call.getResultLayouts(), call.getResultTypes());
  if ((call.getOperandLayouts() && !operandLayouts) || (call.getResultLayouts() && !resultLayouts))
    return c.error() << "@" << call.getCallTargetName() << " has layouts for another number of values";
  auto rebuilt = cast<stablehlo::CustomCallOp>(c.rebuild(c.getExpandedOperands()));
  if (operandLayouts) rebuilt.setOperandLayoutsAttr(operandLayouts);
  if (resultLayouts) rebuilt.setResultLayoutsAttr(resultLayouts);
  // They count operands and results as they were, and nothing here needs them.
  rebuilt->removeAttr("output_operand_aliases");
  rebuilt->removeAttr("sdy.sharding_rule");
  return c.finishAll(rebuilt->getResults());
}

void mlir::sgd::addComplexLinearAlgebra(ExpansionTable& table) {
  table["stablehlo.cholesky"] = expandCholesky;
  table["stablehlo.triangular_solve"] = expandTriangularSolve;
}
