// Floats are computed in double precision by the C library, whatever their type.
#include "reference/scalar.h"

#include <cmath>

#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "reference/tensor.h"

namespace mlir::sgd::reference {

std::optional<double> evaluateUnary(StringRef name, double x) {
  using Function = double (*)(double);
  static const llvm::StringMap<Function> functions = {{"exp", std::exp},
                                                      {"exp2", std::exp2},
                                                      {"expm1", std::expm1},
                                                      {"log", std::log},
                                                      {"log2", std::log2},
                                                      {"log10", std::log10},
                                                      {"log1p", std::log1p},
                                                      {"tanh", std::tanh},
                                                      {"erf", std::erf},
                                                      {"erfc", std::erfc},
                                                      {"sin", std::sin},
                                                      {"cos", std::cos},
                                                      {"tan", std::tan},
                                                      {"sinh", std::sinh},
                                                      {"cosh", std::cosh},
                                                      {"asin", std::asin},
                                                      {"acos", std::acos},
                                                      {"atan", std::atan},
                                                      {"asinh", std::asinh},
                                                      {"acosh", std::acosh},
                                                      {"atanh", std::atanh},
                                                      {"cbrt", std::cbrt},
                                                      {"sqrt", std::sqrt},
                                                      {"absf", std::fabs},
                                                      {"floor", std::floor},
                                                      {"ceil", std::ceil},
                                                      {"trunc", std::trunc},
                                                      {"round", std::round},
                                                      {"roundeven", std::nearbyint}};
  if (auto known = functions.find(name); known != functions.end()) return known->second(x);
  if (name == "rsqrt") return 1 / std::sqrt(x);
  if (name == "negf") return -x;
  if (name == "extf" || name == "truncf") return x;
  return std::nullopt;
}

std::optional<double> evaluateBinary(StringRef name, double x, double y) {
  if (name == "addf") return x + y;
  if (name == "subf") return x - y;
  if (name == "mulf") return x * y;
  if (name == "divf") return x / y;
  if (name == "remf") return std::fmod(x, y);
  if (name == "powf") return std::pow(x, y);
  if (name == "atan2") return std::atan2(x, y);
  if (name == "copysign") return std::copysign(x, y);
  if (name == "maxnumf") return std::fmax(x, y);
  if (name == "minnumf") return std::fmin(x, y);
  bool isNan = std::isnan(x) || std::isnan(y);
  if (name == "maximumf") return isNan ? std::nan("") : std::max(x, y);
  if (name == "minimumf") return isNan ? std::nan("") : std::min(x, y);
  return std::nullopt;
}

std::optional<int64_t> evaluateBinary(StringRef name, int64_t x, int64_t y, Type type) {
  uint64_t ux = asUnsigned(x, type), uy = asUnsigned(y, type);
  uint64_t bits = type.getIntOrFloatBitWidth();
  // Additions and multiplications wrap around: computed unsigned, where C++ defines that.
  if (name == "addi") return static_cast<int64_t>(ux + uy);
  if (name == "subi") return static_cast<int64_t>(ux - uy);
  if (name == "muli") return static_cast<int64_t>(ux * uy);
  if (name == "andi") return x & y;
  if (name == "ori") return x | y;
  if (name == "xori") return x ^ y;
  // As a signed number, a set bit is -1.
  if (name == "maxsi") return bits == 1 ? x & y : std::max(x, y);
  if (name == "minsi") return bits == 1 ? x | y : std::min(x, y);
  if (name == "maxui") return ux > uy ? x : y;
  if (name == "minui") return ux < uy ? x : y;
  if (name == "divsi") return y == 0 ? -1 : y == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x / y;
  if (name == "remsi") return y == 0 ? x : y == -1 ? 0 : x % y;
  if (name == "divui") return y == 0 ? -1 : static_cast<int64_t>(ux / uy);
  if (name == "remui") return y == 0 ? x : static_cast<int64_t>(ux % uy);
  if (name == "shli") return uy >= bits ? 0 : static_cast<int64_t>(ux << uy);
  if (name == "shrui") return uy >= bits ? 0 : static_cast<int64_t>(ux >> uy);
  if (name == "shrsi") return x >> std::min<uint64_t>(uy, bits - 1);
  return std::nullopt;
}

bool compare(arith::CmpFPredicate predicate, double x, double y) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
    case P::AlwaysFalse:
      return false;
    case P::OEQ:
      return x == y;
    case P::OGT:
      return x > y;
    case P::OGE:
      return x >= y;
    case P::OLT:
      return x < y;
    case P::OLE:
      return x <= y;
    case P::ONE:
      return !unordered && x != y;
    case P::ORD:
      return !unordered;
    case P::UEQ:
      return unordered || x == y;
    case P::UGT:
      return unordered || x > y;
    case P::UGE:
      return unordered || x >= y;
    case P::ULT:
      return unordered || x < y;
    case P::ULE:
      return unordered || x <= y;
    case P::UNE:
      return unordered || x != y;
    case P::UNO:
      return unordered;
    case P::AlwaysTrue:
      return true;
  }
  llvm_unreachable("every predicate is listed");
}

bool compare(arith::CmpIPredicate predicate, int64_t x, int64_t y, Type type) {
  using P = arith::CmpIPredicate;
  uint64_t ux = asUnsigned(x, type), uy = asUnsigned(y, type);
  // As a signed number, a set bit is -1.
  if (type.isInteger(1)) x = -x, y = -y;
  switch (predicate) {
    case P::eq:
      return x == y;
    case P::ne:
      return x != y;
    case P::slt:
      return x < y;
    case P::sle:
      return x <= y;
    case P::sgt:
      return x > y;
    case P::sge:
      return x >= y;
    case P::ult:
      return ux < uy;
    case P::ule:
      return ux <= uy;
    case P::ugt:
      return ux > uy;
    case P::uge:
      return ux >= uy;
  }
  llvm_unreachable("every predicate is listed");
}

int64_t toInteger(double x, Type type, bool isSigned) {
  if (std::isnan(x)) return 0;
  llvm::APSInt result(type.getIntOrFloatBitWidth(), !isSigned);
  bool isExact;
  APFloat(x).convertToInteger(result, APFloat::rmTowardZero, &isExact);  // saturates
  return static_cast<int64_t>(result.getRawData()[0]);
}

FloatCombiner getFloatCombiner(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Add:
      return [](double x, double y) { return x + y; };
    case ReduceKind::Mul:
      return [](double x, double y) { return x * y; };
    case ReduceKind::Max:
      return [](double x, double y) { return *evaluateBinary("maximumf", x, y); };
    case ReduceKind::Min:
      return [](double x, double y) { return *evaluateBinary("minimumf", x, y); };
    default:
      return nullptr;
  }
}

int64_t combine(ReduceKind kind, int64_t x, int64_t y, Type type) {
  static constexpr StringLiteral names[] = {"addi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori"};
  return wrap(*evaluateBinary(names[static_cast<int>(kind)], x, y, type), type);
}

}  // namespace mlir::sgd::reference
