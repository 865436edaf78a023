// One function per routine; parameters are characters, as LAPACK's are.
#include "frontends/stablehlo/lapack_calls.h"

#include "frontends/stablehlo/input/library_ops.h"

using namespace mlir;
using namespace mlir::sgd;
namespace la = ::sgd::linear_algebra;

namespace {

/// Parameters of a custom call, of which the first unknown one is reported.
class Parameters {
 public:
  Parameters(OpLowering& l, bool isComplex) : l(l), isComplex(isComplex) {
    attributes = l.op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
    if (!attributes) attributes = dyn_cast_or_null<DictionaryAttr>(call().getBackendConfigAttr());
  }

  /// The value of the parameter `name`, which must be one of `allowed`; 0 after an error.
  char getChar(StringRef name, StringRef allowed) {
    auto value = attributes ? attributes.getAs<IntegerAttr>(name) : IntegerAttr();
    int64_t code = value ? value.getValue().getZExtValue() : 0;
    if (code > 0 && code < 128 && allowed.contains(static_cast<char>(code))) return static_cast<char>(code);
    report() << name << "'; expected one of the characters " << allowed << ", as JAX writes it";
    return 0;
  }

  bool getBool(StringRef name) {
    auto value = attributes ? attributes.getAs<BoolAttr>(name) : BoolAttr();
    if (value) return value.getValue();
    report() << name << "'; expected true or false, as JAX writes it";
    return false;
  }

  int64_t getInteger(StringRef name) {
    auto value = attributes ? attributes.getAs<IntegerAttr>(name) : IntegerAttr();
    if (value) return value.getInt();
    report() << name << "'; expected an integer, as JAX writes it";
    return 0;
  }

  stablehlo::CustomCallOp call() { return cast<stablehlo::CustomCallOp>(l.op); }

  InFlightDiagnostic report() {
    hasFailed = true;
    return l.error() << "@" << call().getCallTargetName() << " has an unknown or no parameter '";
  }

  OpLowering& l;
  bool isComplex;
  DictionaryAttr attributes;
  bool hasFailed = false;
};

uint32_t when(bool condition, la::Option option) { return condition ? option : 0u; }

uint32_t getTriangle(Parameters& p) { return when(p.getChar("uplo", "LU") == 'L', la::kLower); }

LapackCall getPotrf(Parameters& p) { return {LinearAlgebraKind::Cholesky, getTriangle(p), {0, 1}}; }

LapackCall getTrsm(Parameters& p) {
  char transpose = p.getChar("trans_x", "NTC");
  uint32_t options = getTriangle(p) | when(p.getChar("side", "LR") == 'R', la::kRight) |
                     when(transpose != 'N', la::kTranspose) | when(p.isComplex && transpose == 'C', la::kConjugate) |
                     when(p.getChar("diag", "NU") == 'U', la::kUnitDiagonal);
  return {LinearAlgebraKind::TriangularSolve, options, {0}};
}

LapackCall getGetrf(Parameters&) { return {LinearAlgebraKind::Lu, 0, {0, 1, 2}}; }
/// Some versions of JAX ask for an info too.
LapackCall getGeqrf(Parameters&) { return {LinearAlgebraKind::Qr, 0, {0, 1, kZero}}; }
LapackCall getGeqp3(Parameters&) { return {LinearAlgebraKind::PivotedQr, 0, {0, 1, 2, kZero}}; }
LapackCall getOrgqr(Parameters&) { return {LinearAlgebraKind::HouseholderProduct, 0, {0, kZero}}; }

LapackCall getOrmqr(Parameters& p) {
  bool isTransposed = p.getBool("transpose");
  uint32_t options = when(!p.getBool("left"), la::kRight) | when(isTransposed, la::kTranspose) |
                     when(isTransposed && p.isComplex, la::kConjugate);
  return {LinearAlgebraKind::HouseholderMultiply, options, {0}};
}

LapackCall getSyevd(Parameters& p) {
  uint32_t options = getTriangle(p);
  if (p.getChar("mode", "NV") == 'V') return {LinearAlgebraKind::Eigh, options | la::kVectors, {0, 1, 2}};
  return {LinearAlgebraKind::Eigh, options, {kUnspecified, 0, 1}};
}

LapackCall getSvd(Parameters& p, uint32_t options) {
  char mode = p.getChar("mode", "NSA");
  if (mode == 'N') return {LinearAlgebraKind::Svd, options, {kUnspecified, 0, kUnspecified, kUnspecified, 1}};
  options |= la::kVectors | when(mode == 'A', la::kFull);
  return {LinearAlgebraKind::Svd, options, {kUnspecified, 0, 1, 2, 3}};
}
LapackCall getGesdd(Parameters& p) { return getSvd(p, 0); }
LapackCall getGesvd(Parameters& p) { return getSvd(p, la::kQrIteration); }

LapackCall getGees(Parameters& p) {
  p.getChar("sort", "N");
  if (p.getChar("mode", "NV") == 'V') return {LinearAlgebraKind::Schur, la::kVectors, {0, 1, 2, kZero, 3}};
  return {LinearAlgebraKind::Schur, 0, {0, kUnspecified, 1, kZero, 2}};
}

LapackCall getGeev(Parameters& p) {
  bool hasLeft = p.getChar("compute_left", "NV") == 'V', hasRight = p.getChar("compute_right", "NV") == 'V';
  int left = hasLeft ? 1 : kUnspecifiedComplex, right = hasRight ? 1 + hasLeft : kUnspecifiedComplex;
  return {LinearAlgebraKind::Eig,
          when(hasLeft, la::kLeftVectors) | when(hasRight, la::kVectors),
          {0, left, right, 1 + hasLeft + hasRight}};
}

LapackCall getGehrd(Parameters& p) {
  int64_t low = p.getInteger("low"), high = p.getInteger("high");
  RankedTensorType type = p.l.getOperandType();
  if (!p.hasFailed && (low != 1 || type.getRank() == 0 || high != type.getShape().back())) {
    p.l.error() << "@" << p.call().getCallTargetName() << " reduces rows " << low << " to " << high
                << "; expected all of them";
    p.hasFailed = true;
  }
  return {LinearAlgebraKind::Hessenberg, 0, {0, 1, 2}};
}

LapackCall getSytrd(Parameters& p) { return {LinearAlgebraKind::Tridiagonal, getTriangle(p), {0, 1, 2, 3, 4}}; }

LapackCall getGtsv(Parameters&) {
  return {LinearAlgebraKind::TridiagonalSolve, 0, {kUnspecified, kUnspecified, kUnspecified, 0, 1}};
}

using Reader = LapackCall (*)(Parameters&);

/// LAPACK names some routines otherwise where matrices are complex.
struct Routine {
  StringLiteral name, complexName;
  Reader read;
};
constexpr Routine kRoutines[] = {
    {"potrf", "potrf", getPotrf}, {"trsm", "trsm", getTrsm},    {"getrf", "getrf", getGetrf},
    {"geqrf", "geqrf", getGeqrf}, {"geqp3", "geqp3", getGeqp3}, {"orgqr", "ungqr", getOrgqr},
    {"ormqr", "unmqr", getOrmqr}, {"syevd", "heevd", getSyevd}, {"gesdd", "gesdd", getGesdd},
    {"gesvd", "gesvd", getGesvd}, {"geev", "geev", getGeev},    {"gees", "gees", getGees},
    {"gehrd", "gehrd", getGehrd}, {"sytrd", "hetrd", getSytrd}, {"gtsv", "gtsv", getGtsv}};

}  // namespace

SmallVector<int> LapackCall::getPartResults() const {
  bool isComplex = (options & la::kComplex) != 0;
  // The tensors of one matrix say which results of the op are parts of one; sizes do not matter.
  SmallVector<SmallVector<int, 2>> positions;
  la::Form form{static_cast<la::Kind>(kind), options, 1, 1, 1};
  for (auto [index, tensor] : llvm::enumerate(la::OutputsOf(form))) {
    if (!tensor.is_imaginary) positions.emplace_back();
    positions.back().push_back(static_cast<int>(index));
  }
  SmallVector<int> parts;
  for (int result : results) {
    if (result >= 0)
      parts.append(positions[result]);
    else if (result == kZero)
      parts.push_back(kZero);
    else
      parts.append(isComplex || result == kUnspecifiedComplex ? 2 : 1, kUnspecified);
  }
  return parts;
}

std::optional<FailureOr<LapackCall>> mlir::sgd::getLapackCall(OpLowering& l, StringRef routine, bool isComplex) {
  for (const Routine& known : kRoutines) {
    if ((isComplex ? known.complexName : known.name) != routine) continue;
    Parameters parameters(l, isComplex);
    LapackCall call = known.read(parameters);
    if (parameters.hasFailed) return FailureOr<LapackCall>(failure());
    if (isComplex) call.options |= la::kComplex;
    return FailureOr<LapackCall>(call);
  }
  return std::nullopt;
}

std::string mlir::sgd::getLapackRoutines(bool isComplex) {
  return llvm::join(llvm::map_range(kRoutines,
                                    [&](const Routine& routine) {
                                      return isComplex ? routine.complexName.str() : routine.name.str();
                                    }),
                    ", ");
}
