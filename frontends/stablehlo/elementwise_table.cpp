// The table of elementwise ops; see elementwise_table.h.
#include "frontends/stablehlo/elementwise_table.h"

#include "llvm/ADT/StringMap.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr StringLiteral kNone = "";

static constexpr ElementwiseRow onFloats(StringLiteral name, StringLiteral op) {
  return {name, op, kNone, kNone, kNone};
}
static constexpr ElementwiseRow onIntegers(StringLiteral name, StringLiteral op) { return {name, kNone, op, op, op}; }

ArrayRef<ElementwiseRow> mlir::sgd::getElementwiseRows() {
  static constexpr ElementwiseRow rows[] = {
      {"stablehlo.abs", "math.absf", "math.absi", kNone, kNone},
      {"stablehlo.add", "arith.addf", "arith.addi", "arith.addi", "arith.ori"},
      onIntegers("stablehlo.and", "arith.andi"),
      onFloats("stablehlo.cbrt", "math.cbrt"),
      onFloats("stablehlo.ceil", "math.ceil"),
      onFloats("stablehlo.cosine", "math.cos"),
      onIntegers("stablehlo.count_leading_zeros", "math.ctlz"),
      {"stablehlo.divide", "arith.divf", "sgd.divsi", "sgd.divui", kNone},
      onFloats("stablehlo.exponential", "math.exp"),
      onFloats("stablehlo.exponential_minus_one", "math.expm1"),
      onFloats("stablehlo.floor", "math.floor"),
      onFloats("stablehlo.log", "math.log"),
      onFloats("stablehlo.log_plus_one", "math.log1p"),
      {"stablehlo.maximum", "arith.maximumf", "arith.maxsi", "arith.maxui", "arith.ori"},
      {"stablehlo.minimum", "arith.minimumf", "arith.minsi", "arith.minui", "arith.andi"},
      {"stablehlo.multiply", "arith.mulf", "arith.muli", "arith.muli", "arith.andi"},
      onFloats("stablehlo.negate", "arith.negf"),
      onIntegers("stablehlo.or", "arith.ori"),
      onIntegers("stablehlo.popcnt", "math.ctpop"),
      onFloats("stablehlo.power", "math.powf"),
      {"stablehlo.remainder", "arith.remf", "sgd.remsi", "sgd.remui", kNone},
      onFloats("stablehlo.round_nearest_afz", "math.round"),
      onFloats("stablehlo.round_nearest_even", "math.roundeven"),
      onFloats("stablehlo.rsqrt", "math.rsqrt"),
      onIntegers("stablehlo.shift_left", "sgd.shli"),
      onIntegers("stablehlo.shift_right_arithmetic", "sgd.shrsi"),
      onIntegers("stablehlo.shift_right_logical", "sgd.shrui"),
      onFloats("stablehlo.sine", "math.sin"),
      onFloats("stablehlo.sqrt", "math.sqrt"),
      {"stablehlo.subtract", "arith.subf", "arith.subi", "arith.subi", kNone},
      onFloats("stablehlo.tan", "math.tan"),
      onFloats("stablehlo.tanh", "math.tanh"),
      onIntegers("stablehlo.xor", "arith.xori"),
      onFloats("chlo.acos", "math.acos"),
      onFloats("chlo.acosh", "math.acosh"),
      onFloats("chlo.asin", "math.asin"),
      onFloats("chlo.asinh", "math.asinh"),
      onFloats("chlo.atan", "math.atan"),
      onFloats("chlo.atanh", "math.atanh"),
      onFloats("chlo.cosh", "math.cosh"),
      onFloats("chlo.erf", "math.erf"),
      onFloats("chlo.erfc", "math.erfc"),
      onFloats("chlo.sinh", "math.sinh"),
      onFloats("chlo.tan", "math.tan"),
  };
  return rows;
}

StringRef ElementwiseRow::getGraphOp(Type element) const {
  if (isa<FloatType>(element)) return onFloats;
  if (element.isInteger(1)) return onBooleans;
  return element.isUnsignedInteger() ? onUnsigned : onSigned;
}

const ElementwiseRow* mlir::sgd::findElementwiseRow(StringRef inputOp) {
  static const auto byName = [] {
    llvm::StringMap<const ElementwiseRow*> rows;
    for (const ElementwiseRow& row : getElementwiseRows()) rows[row.name] = &row;
    return rows;
  }();
  return byName.lookup(inputOp);
}

ElementwiseOrigin mlir::sgd::findElementwiseOrigin(StringRef graphOp) {
  static const auto origins = [] {
    llvm::StringMap<ElementwiseOrigin> found;
    for (const ElementwiseRow& row : getElementwiseRows())
      for (StringRef op : {row.onFloats, row.onSigned})
        if (!op.empty()) found.try_emplace(op, ElementwiseOrigin{&row, false});
    for (const ElementwiseRow& row : getElementwiseRows())
      if (!row.onUnsigned.empty()) found.try_emplace(row.onUnsigned, ElementwiseOrigin{&row, true});
    return found;
  }();
  return origins.lookup(graphOp);
}
