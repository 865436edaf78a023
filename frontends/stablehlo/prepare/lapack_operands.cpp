// Calls of LAPACK as JAX 0.4 wrote them until 0.4.35: sizes, options and lengths of working memory are constant
// operands before the matrices, working memory is among the results, and names do not end in `_ffi`. Their operands and
// results are those of jaxlib's lapack.py of that time.
#include <complex>

#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

using stablehlo::CustomCallOp;

/// The one element of `value`, or null where that is no constant.
DenseElementsAttr getConstant(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && elements.getNumElements() == 1 ? elements : DenseElementsAttr();
}

/// A call with the values of its constant operands.
class OldCall {
 public:
  OldCall(CustomCallOp call, StringRef precision) : call(call), precision(precision) {}

  bool isComplexRoutine() const { return precision == "c" || precision == "z"; }

  /// The value of operand `index`; 0 after an error.
  int64_t get(unsigned index) {
    DenseElementsAttr elements = getConstant(call.getOperand(index));
    if (elements && isa<IntegerType>(elements.getElementType()))
      return static_cast<int64_t>(elements.getValues<APInt>()[0].getZExtValue());
    if (!hasFailed)
      call.emitError() << "'stablehlo.custom_call' @" << call.getCallTargetName() << " has as operand " << index
                       << " no constant integer, which JAX wrote there; export the program anew, with JAX 0.4.36 or "
                          "later";
    hasFailed = true;
    return 0;
  }

  /// The parameter `name` of the later form.
  void setChar(StringRef name, char value) {
    Builder builder(call.getContext());
    auto type = IntegerType::get(call.getContext(), 8, IntegerType::Unsigned);
    parameters.append(name, builder.getIntegerAttr(type, value));
  }
  void setInteger(StringRef name, int64_t value) {
    parameters.append(name, Builder(call.getContext()).getI32IntegerAttr(static_cast<int32_t>(value)));
  }

  CustomCallOp call;
  StringRef precision;
  NamedAttrList parameters;
  bool hasFailed = false;
};

/// A routine's constant operands, matrices and results. Results that are not named are working memory.
struct OldRoutine {
  StringLiteral name;  ///< without precision
  unsigned numConstants, numTensors;
  void (*readParameters)(OldCall&);           ///< null: there are none
  SmallVector<unsigned> results;              ///< of the later form, among those of this one
  SmallVector<unsigned> complexResults = {};  ///< the same of complex matrices, where they differ
};

void readTriangle(OldCall& call, unsigned operand) { call.setChar("uplo", call.get(operand) != 0 ? 'L' : 'U'); }
void readFirstTriangle(OldCall& call) { readTriangle(call, 0); }
void readSecondTriangle(OldCall& call) { readTriangle(call, 1); }

void readEigh(OldCall& call) {
  readTriangle(call, 0);
  call.setChar("mode", 'V');
}

void readSvd(OldCall& call) {
  bool isFull = call.get(0) != 0, hasVectors = call.get(1) != 0;
  call.setChar("mode", !hasVectors ? 'N' : isFull ? 'A' : 'S');
}

void readEig(OldCall& call) {
  call.setChar("compute_left", static_cast<char>(call.get(2)));
  call.setChar("compute_right", static_cast<char>(call.get(3)));
}

void readSchur(OldCall& call) {
  call.setChar("mode", static_cast<char>(call.get(2)));
  call.setChar("sort", static_cast<char>(call.get(3)));
}

void readHessenberg(OldCall& call) {
  call.setInteger("low", call.get(1));
  call.setInteger("high", call.get(2));
}

void readTriangularSolve(OldCall& call) {
  call.setChar("side", call.get(0) != 0 ? 'L' : 'R');
  readTriangle(call, 1);
  int64_t transpose = call.get(2);
  call.setChar("trans_x", transpose == 0 ? 'N' : transpose == 1 ? 'T' : 'C');
  call.setChar("diag", call.get(3) != 0 ? 'U' : 'N');
}

ArrayRef<OldRoutine> getRoutines() {
  static const OldRoutine routines[] = {
      {"potrf", 3, 1, readFirstTriangle, {0, 1}},
      {"getrf", 3, 1, nullptr, {0, 1, 2}},
      {"geqrf", 4, 1, nullptr, {0, 1, 2}},
      {"geqp3", 4, 2, nullptr, {0, 1, 2, 3}},
      {"orgqr", 5, 2, nullptr, {0, 1}},
      {"ungqr", 5, 2, nullptr, {0, 1}},
      {"gesdd", 6, 1, readSvd, {0, 1, 2, 3, 4}},
      {"syevd", 3, 1, readEigh, {0, 1, 2}},
      {"heevd", 3, 1, readEigh, {0, 1, 2}},
      {"geev", 4, 1, readEig, {3, 4, 5, 6, 7}, {2, 3, 4, 5}},
      {"gees", 4, 1, readSchur, {0, 3, 1, 2, 4, 5}, {0, 3, 2, 4, 5}},
      {"gehrd", 6, 1, readHessenberg, {0, 1, 2}},
      {"sytrd", 5, 1, readSecondTriangle, {0, 1, 2, 3, 4}},
      {"hetrd", 5, 1, readSecondTriangle, {0, 1, 2, 3, 4}},
      {"trsm", 8, 2, readTriangularSolve, {0}},
  };
  return routines;
}

/// The factor of the right-hand sides, which JAX always leaves 1.
bool isOne(Value value) {
  DenseElementsAttr elements = getConstant(value);
  if (!elements) return false;
  if (isa<FloatType>(elements.getElementType())) return elements.getValues<APFloat>()[0].isExactlyValue(1.0);
  if (!isa<ComplexType>(elements.getElementType())) return false;
  auto number = *elements.getValues<std::complex<APFloat>>().begin();
  return number.real().isExactlyValue(1.0) && number.imag().isZero();
}

LogicalResult reportForm(CustomCallOp call, const OldRoutine& routine, StringRef what) {
  return call.emitError() << "'stablehlo.custom_call' @" << call.getCallTargetName() << " has " << what << "; expected "
                          << routine.numConstants << " constants and " << routine.numTensors
                          << (routine.numTensors == 1 ? " tensor" : " tensors")
                          << ", as JAX 0.4 wrote it; export the program anew, with JAX 0.4.36 or later";
}

LogicalResult checkForm(CustomCallOp call, const OldRoutine& routine, ArrayRef<unsigned> results) {
  if (call.getNumOperands() != routine.numConstants + routine.numTensors)
    return reportForm(call, routine, "another number of operands");
  for (Value constant : call.getOperands().take_front(routine.numConstants))
    if (auto type = dyn_cast<RankedTensorType>(constant.getType()); !type || type.getRank() != 0)
      return reportForm(call, routine, "a tensor where a constant should be");
  if (call.getNumResults() <= *llvm::max_element(results)) return reportForm(call, routine, "too few results");
  for (OpResult result : call.getResults())
    if (!llvm::is_contained(results, result.getResultNumber()) && !result.use_empty())
      return reportForm(call, routine, "a use of working memory");
  if (routine.name == "trsm" && !isOne(call.getOperand(7))) return reportForm(call, routine, "a factor that is not 1");
  return success();
}

/// The layouts in `layouts` at `positions`; null where there are none.
ArrayAttr pickLayouts(std::optional<ArrayAttr> layouts, ArrayRef<unsigned> positions) {
  if (!layouts) return {};
  SmallVector<Attribute> picked;
  for (unsigned position : positions)
    if (position < layouts->size()) picked.push_back((*layouts)[position]);
  return ArrayAttr::get(layouts->getContext(), picked);
}

LogicalResult replace(CustomCallOp call, const OldRoutine& routine, StringRef precision) {
  OldCall old(call, precision);
  ArrayRef<unsigned> results = routine.results;
  if (old.isComplexRoutine() && !routine.complexResults.empty()) results = routine.complexResults;
  if (checkForm(call, routine, results).failed()) return failure();
  if (routine.readParameters) routine.readParameters(old);
  if (old.hasFailed) return failure();

  OpBuilder builder(call);
  SmallVector<Type> types;
  for (unsigned result : results) types.push_back(call.getResult(result).getType());
  OperationState state(call.getLoc(), CustomCallOp::getOperationName(),
                       call.getOperands().drop_front(routine.numConstants), types);
  std::string target = ("lapack_" + precision + routine.name + "_ffi").str();
  state.addAttribute("call_target_name", builder.getStringAttr(target));
  state.addAttribute("mhlo.backend_config", old.parameters.getDictionary(call.getContext()));
  auto tensors = llvm::to_vector(llvm::seq<unsigned>(routine.numConstants, call.getNumOperands()));
  if (ArrayAttr layouts = pickLayouts(call.getOperandLayouts(), tensors))
    state.addAttribute("operand_layouts", layouts);
  if (ArrayAttr layouts = pickLayouts(call.getResultLayouts(), results)) state.addAttribute("result_layouts", layouts);
  Operation* later = builder.create(state);
  for (auto [index, result] : llvm::enumerate(results))
    call.getResult(result).replaceAllUsesWith(later->getResult(index));
  call.erase();
  return success();
}

/// "potrf" and "s" of "lapack_spotrf", "trsm" and "s" of "blas_strsm"; empty for other names.
std::pair<StringRef, StringRef> splitName(StringRef target) {
  bool isBlas = target.consume_front("blas_");
  if ((!isBlas && !target.consume_front("lapack_")) || target.ends_with("_ffi") || target.size() < 2) return {};
  if (!StringRef("sdcz").contains(target.front()) || isBlas != (target.drop_front() == "trsm")) return {};
  return {target.drop_front(), target.take_front()};
}

}  // namespace

LogicalResult mlir::sgd::moveLapackOperands(ModuleOp module) {
  SmallVector<CustomCallOp> calls;
  module.walk([&](CustomCallOp call) { calls.push_back(call); });
  for (CustomCallOp call : calls) {
    auto [name, precision] = splitName(call.getCallTargetName());
    const auto* routine = llvm::find_if(getRoutines(), [&](const OldRoutine& known) { return known.name == name; });
    if (routine != getRoutines().end() && replace(call, *routine, precision).failed()) return failure();
  }
  return success();
}
