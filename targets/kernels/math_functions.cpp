// The table from the math dialect's names to functions.
#include "targets/kernels/math_functions.h"

#include "llvm/ADT/StringMap.h"
#include "targets/kernels/math_function_set.h"

namespace Intrinsic = llvm::Intrinsic;
using mlir::sgd::kernels::MathFunctions;

llvm::Value* mlir::sgd::kernels::emitMathFunction(const VectorBuilder& v, llvm::StringRef name,
                                                  llvm::ArrayRef<llvm::Value*> arguments) {
  MathFunctions f(v, arguments[0]->getType());
  using Unary = llvm::Value* (MathFunctions::*)(llvm::Value*) const;
  static const llvm::StringMap<Unary> unary = {
      {"exp", &MathFunctions::exp},     {"exp2", &MathFunctions::exp2},   {"expm1", &MathFunctions::expm1},
      {"log", &MathFunctions::log},     {"log2", &MathFunctions::log2},   {"log10", &MathFunctions::log10},
      {"log1p", &MathFunctions::log1p}, {"tanh", &MathFunctions::tanh},   {"erf", &MathFunctions::erf},
      {"erfc", &MathFunctions::erfc},   {"sin", &MathFunctions::sin},     {"cos", &MathFunctions::cos},
      {"tan", &MathFunctions::tan},     {"sinh", &MathFunctions::sinh},   {"cosh", &MathFunctions::cosh},
      {"asin", &MathFunctions::asin},   {"acos", &MathFunctions::acos},   {"atan", &MathFunctions::atan},
      {"asinh", &MathFunctions::asinh}, {"acosh", &MathFunctions::acosh}, {"atanh", &MathFunctions::atanh},
      {"cbrt", &MathFunctions::cbrt},   {"rsqrt", &MathFunctions::rsqrt}, {"sqrt", &MathFunctions::sqrt},
      {"absf", &MathFunctions::abs},    {"round", &MathFunctions::round}};
  if (auto known = unary.find(name); known != unary.end()) return (f.*known->second)(arguments[0]);
  static const llvm::StringMap<Intrinsic::ID> intrinsics = {{"floor", Intrinsic::floor},
                                                            {"ceil", Intrinsic::ceil},
                                                            {"roundeven", Intrinsic::roundeven},
                                                            {"trunc", Intrinsic::trunc}};
  if (auto known = intrinsics.find(name); known != intrinsics.end()) return v.unary(known->second, arguments[0]);
  if (name == "copysign") return f.copySign(arguments[0], arguments[1]);
  if (name == "powf") return f.pow(arguments[0], arguments[1]);
  if (name == "atan2") return f.atan2(arguments[0], arguments[1]);
  if (name == "fma") return v.fma(arguments[0], arguments[1], arguments[2]);
  return nullptr;
}
