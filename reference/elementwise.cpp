// Elementwise ops of the arith, math and sgd dialects.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "reference/ops.h"
#include "reference/scalar.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

/// A float result of a float op.
static std::optional<double> evaluateFloat(StringRef name, Operands in, int64_t at) {
  double first = in[0]->floats[at];
  return in.size() == 1 ? evaluateUnary(name, first) : evaluateBinary(name, first, in[1]->floats[at]);
}

/// An integer result of an integer op.
static std::optional<int64_t> evaluateInteger(StringRef name, Operands in, int64_t at) {
  Type from = in[0]->element();
  int64_t first = in[0]->integers[at];
  // As a signed number, a set bit is -1.
  if (name == "extsi" || name == "trunci") return from.isInteger(1) ? -first : first;
  if (name == "extui") return static_cast<int64_t>(asUnsigned(first, from));
  if (name == "absi") return first < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(first)) : first;
  if (name == "ctpop") return llvm::popcount(asUnsigned(first, from));
  if (name == "ctlz") {
    unsigned bits = from.getIntOrFloatBitWidth();
    return static_cast<int64_t>(llvm::countl_zero(asUnsigned(first, from))) - (64 - bits);
  }
  if (name == "cttz") {
    uint64_t bits = from.getIntOrFloatBitWidth();
    return static_cast<int64_t>(std::min<uint64_t>(llvm::countr_zero(asUnsigned(first, from)), bits));
  }
  if (in.size() == 1) return std::nullopt;
  return evaluateBinary(name, first, in[1]->integers[at], from);
}

LogicalResult reference::evaluateElementwise(Operation* op, Operands in, Tensor& out) {
  StringRef name = op->getName().stripDialect();
  Type type = out.element(), from = in[0]->element();
  for (int64_t i = 0; i < out.size(); ++i) {
    if (name == "select") {
      // A scalar condition chooses for all elements.
      out.copy(i, in[0]->integers[in[0]->size() == 1 ? 0 : i] ? *in[1] : *in[2], i);
    } else if (auto compareOp = dyn_cast<arith::CmpFOp>(op)) {
      out.integers[i] = compare(compareOp.getPredicate(), in[0]->floats[i], in[1]->floats[i]);
    } else if (auto compareOp = dyn_cast<arith::CmpIOp>(op)) {
      out.integers[i] = compare(compareOp.getPredicate(), in[0]->integers[i], in[1]->integers[i], from);
    } else if (name == "sitofp") {
      out.setFloat(i, static_cast<double>(from.isInteger(1) ? -in[0]->integers[i] : in[0]->integers[i]));
    } else if (name == "uitofp") {
      out.setFloat(i, static_cast<double>(asUnsigned(in[0]->integers[i], from)));
    } else if (name == "fptosi" || name == "fptoui") {
      out.setInteger(i, toInteger(in[0]->floats[i], type, name == "fptosi"));
    } else if (name == "isfinite" || name == "isnan" || name == "isinf") {
      double x = in[0]->floats[i];
      out.integers[i] = name == "isfinite" ? std::isfinite(x) : name == "isnan" ? std::isnan(x) : std::isinf(x);
    } else if (out.isFloat() && in[0]->isFloat()) {
      std::optional<double> value = evaluateFloat(name, in, i);
      if (!value)
        return op->emitOpError(
            "has no reference evaluation; expected an op that docs/reference/operations.md lists as evaluated; add it "
            "to reference/");
      out.setFloat(i, *value);
    } else if (!out.isFloat() && !in[0]->isFloat()) {
      std::optional<int64_t> value = evaluateInteger(name, in, i);
      if (!value)
        return op->emitOpError(
            "has no reference evaluation; expected an op that docs/reference/operations.md lists as evaluated; add it "
            "to reference/");
      out.setInteger(i, *value);
    } else {
      return op->emitOpError(
          "has no reference evaluation; expected an op that docs/reference/operations.md lists as evaluated; add it to "
          "reference/");
    }
  }
  return success();
}
