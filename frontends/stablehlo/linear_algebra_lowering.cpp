// Lowers decompositions and solvers: StableHLO's two ops, and calls of LAPACK. Those of GPUs' libraries are refused by
// name.
#include "frontends/stablehlo/linear_algebra_lowering.h"

#include "dialects/sgd/linear_algebra.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/lapack_calls.h"

using namespace mlir;
using namespace mlir::sgd;
namespace la = ::sgd::linear_algebra;

namespace {

StringRef getTarget(OpLowering& l) { return cast<stablehlo::CustomCallOp>(l.op).getCallTargetName(); }

/// The graph op on the operands of `l`, or failure with a diagnostic where they do not fit.
FailureOr<LinearAlgebraOp> createOp(OpLowering& l, LinearAlgebraKind kind, uint32_t options) {
  TypeRange inputs = l.operands.getTypes();
  auto emitError = [&] {
    InFlightDiagnostic diagnostic = l.error();
    if (isa<stablehlo::CustomCallOp>(l.op)) diagnostic << "@" << getTarget(l) << " ";
    return diagnostic;
  };
  std::optional<la::Form> form = getLinearAlgebraForm(kind, options, inputs);
  SmallVector<Type> results;
  if (form && la::WhyNot(*form).empty()) {
    auto main = cast<RankedTensorType>(inputs[la::OperandsOf(form->kind, options).main]);
    results = getLinearAlgebraResultTypes(*form, main.getShape().drop_back(2), main.getElementType());
  }
  if (failed(verifyLinearAlgebra(kind, options, inputs, results, emitError))) return failure();
  return createLinearAlgebra(l.builder, l.loc, kind, options, l.operands);
}

bool isEmpty(Type type) { return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0); }

/// Whether all results of `l` are empty, but for `info`, which is 0 of empty matrices.
bool hasEmptyResults(OpLowering& l, std::optional<la::Form> form) {
  if (!form) return false;
  auto isNothing = [](const la::Tensor& tensor) {
    bool isInfo = tensor.is_integer && tensor.dims.empty();
    return isInfo || llvm::any_of(tensor.dims, [](la::Dim dim) { return dim.size == 0; });
  };
  return llvm::all_of(la::OutputsOf(*form), isNothing) && llvm::all_of(l.op->getResultTypes(), [](Type type) {
           return isEmpty(type) || cast<RankedTensorType>(type).getElementType().isInteger(32);
         });
}

LogicalResult finishEmpty(OpLowering& l) {
  for (OpResult result : l.op->getResults())
    l.results.push_back(l.create<arith::ConstantOp>(l.builder.getZeroAttr(l.getResultType(result.getResultNumber()))));
  return success();
}

/// NaN in each matrix of `value` whose `info` is not 0.
Value maskFailures(OpLowering& l, Value value, Value info) {
  RankedTensorType type = tensorType(value), batch = tensorType(info);
  Value zero = l.splat(batch, APInt(32, 0));
  Value isRight = l.create<arith::CmpIOp>(arith::CmpIPredicate::eq, info, zero);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, batch.getRank()));
  auto mask = type.clone(l.builder.getI1Type());
  Value everywhere = l.create<BroadcastInDimOp>(mask, isRight, dims);
  return l.create<arith::SelectOp>(everywhere, value, l.splat(type, std::numeric_limits<double>::quiet_NaN()));
}

/// As XLA: NaN where a matrix is not positive definite.
LogicalResult lowerCholesky(OpLowering& l) {
  if (isEmpty(l.getResultType(0))) return finishEmpty(l);
  bool isLower = cast<stablehlo::CholeskyOp>(l.op).getLower();
  FailureOr<LinearAlgebraOp> op = createOp(l, LinearAlgebraKind::Cholesky, isLower ? la::kLower : 0u);
  if (failed(op)) return failure();
  return l.finish(maskFailures(l, op->getResult(0), op->getResult(1)));
}

LogicalResult lowerTriangularSolve(OpLowering& l) {
  if (isEmpty(l.getResultType(0))) return finishEmpty(l);
  auto solve = cast<stablehlo::TriangularSolveOp>(l.op);
  auto transpose = solve.getTransposeA();
  if (transpose == stablehlo::Transpose::TRANSPOSE_INVALID) return l.error() << "has an invalid transpose_a";
  uint32_t options = (solve.getLower() ? la::kLower : 0u) | (solve.getLeftSide() ? 0u : la::kRight) |
                     (solve.getUnitDiagonal() ? la::kUnitDiagonal : 0u) |
                     (transpose == stablehlo::Transpose::NO_TRANSPOSE ? 0u : la::kTranspose);
  FailureOr<LinearAlgebraOp> op = createOp(l, LinearAlgebraKind::TriangularSolve, options);
  return failed(op) ? failure() : l.finish(op->getResult(0));
}

/// Checks that matrices are column-major, as LAPACK expects: otherwise its results are not those of the logical
/// matrices.
LogicalResult checkLayouts(OpLowering& l, std::optional<ArrayAttr> layouts, ArrayRef<la::Tensor> tensors,
                           function_ref<int(unsigned)> positionOf, StringRef what) {
  for (auto [index, layout] : llvm::enumerate(layouts ? layouts->getValue() : ArrayRef<Attribute>())) {
    int position = positionOf(index);
    if (position < 0 || tensors[position].dims.size() != 2) continue;
    auto order = dyn_cast<DenseIntElementsAttr>(layout);
    SmallVector<int64_t> minorToMajor;
    if (order)
      for (const APInt& dim : order.getValues<APInt>()) minorToMajor.push_back(dim.getSExtValue());
    auto rank = static_cast<int64_t>(minorToMajor.size());
    bool isColumnMajor = rank >= 2 && minorToMajor[0] == rank - 2 && minorToMajor[1] == rank - 1;
    if (!isColumnMajor)
      return l.error() << "@" << getTarget(l) << " has " << what << " " << index << " in the layout " << layout
                       << "; expected column-major matrices, as LAPACK has them";
  }
  return success();
}

/// The results of the call from those of `op`.
LogicalResult mapResults(OpLowering& l, const LapackCall& call, LinearAlgebraOp op) {
  SmallVector<int> sources = call.getPartResults();
  if (l.op->getNumResults() > sources.size())
    return l.error() << "@" << getTarget(l) << " has " << l.op->getNumResults() << " results, expected "
                     << sources.size();
  for (OpResult result : l.op->getResults()) {
    unsigned index = result.getResultNumber();
    RankedTensorType type = l.getResultType(index);
    int source = sources[index];
    if (source >= 0) {
      if (op->getResult(source).getType() != type)
        return l.error() << "@" << getTarget(l) << " has " << type << " as result " << index << ", expected "
                         << op->getResult(source).getType();
      l.results.push_back(op->getResult(source));
    } else if (source == kZero || result.use_empty()) {
      l.results.push_back(l.create<arith::ConstantOp>(l.builder.getZeroAttr(type)));
    } else {
      return l.error() << "@" << getTarget(l) << " has a use of result " << index
                       << ", which is working memory of the routine; expected none";
    }
  }
  return success();
}

LogicalResult lowerLapackCall(OpLowering& l, const LapackCall& call) {
  if (hasEmptyResults(l, getLinearAlgebraForm(call.kind, call.options, l.operands.getTypes()))) return finishEmpty(l);
  FailureOr<LinearAlgebraOp> op = createOp(l, call.kind, call.options);
  if (failed(op)) return failure();
  la::Form form = getLinearAlgebraForm(*op);
  auto custom = cast<stablehlo::CustomCallOp>(l.op);
  SmallVector<int> sources = call.getPartResults();
  auto resultOf = [&](unsigned index) { return index < sources.size() ? sources[index] : kUnspecified; };
  if (failed(checkLayouts(
          l, custom.getOperandLayouts(), la::InputsOf(form), [](unsigned index) { return index; }, "operand")) ||
      failed(checkLayouts(l, custom.getResultLayouts(), la::OutputsOf(form), resultOf, "result")))
    return failure();
  return mapResults(l, call, *op);
}

/// Calls as programs for TPUs have them; their results are LAPACK's. Row-major, so layouts are not looked at.
std::optional<LapackCall> getTpuCall(StringRef target) {
  if (target == "Qr") return LapackCall{LinearAlgebraKind::Qr, 0, {0, 1}};
  if (target == "ProductOfElementaryHouseholderReflectors")
    return LapackCall{LinearAlgebraKind::HouseholderProduct, 0, {0}};
  return std::nullopt;
}

/// "potrf" of "lapack_spotrf_ffi"; empty for names of another form. c and z are the complex ones, on parts.
StringRef getRoutine(StringRef target, char& precision) {
  if (!target.consume_front("lapack_") || !target.consume_back("_ffi") || target.size() < 2) return "";
  precision = target.front();
  return target.drop_front();
}

bool isGpuCall(StringRef target) {
  return target.starts_with("cusolver_") || target.starts_with("hipsolver_") || target.starts_with("cu_") ||
         target.starts_with("cusparse_") || target.starts_with("cuhybrid_") || target.starts_with("cublas_") ||
         target.starts_with("rocsolver_");
}

}  // namespace

bool mlir::sgd::isLinearAlgebraCall(StringRef target) {
  return target.starts_with("lapack_") || isGpuCall(target) || getTpuCall(target) || target == "Eigh" ||
         target == "LuDecomposition";
}

LogicalResult mlir::sgd::lowerLinearAlgebraCall(OpLowering& l) {
  StringRef target = getTarget(l);
  if (std::optional<LapackCall> call = getTpuCall(target)) return lowerLapackCall(l, *call);
  char precision = 0;
  StringRef routine = getRoutine(target, precision);
  if (StringRef("sdcz").contains(precision) && precision != 0) {
    bool isComplex = precision == 'c' || precision == 'z';
    if (std::optional<FailureOr<LapackCall>> call = getLapackCall(l, routine, isComplex))
      return failed(*call) ? failure() : lowerLapackCall(l, **call);
    return l.error() << "@" << target << " is not supported; expected one of LAPACK's " << getLapackRoutines(isComplex)
                     << "; compute it outside of the step";
  }
  return l.error() << "@" << target
                   << " is not supported: a call of another platform's library, or of an old release of JAX; expected "
                      "LAPACK's: export the program for CPUs (platforms=['cpu']) with JAX 0.4.36 or later";
}

void mlir::sgd::addLinearAlgebraLowerings(LoweringTable& table) {
  table["stablehlo.cholesky"] = lowerCholesky;
  table["stablehlo.triangular_solve"] = lowerTriangularSolve;
}
