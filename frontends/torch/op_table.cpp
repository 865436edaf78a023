// All lowerings by name, and the ops that have a form that writes to `self`. Forms that change its dimensions
// ("squeeze_") are not among them.
#include "frontends/torch/import_program.h"

#include "frontends/torch/aten_op.h"
#include "frontends/torch/graph_lowering.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

// clang-format off
static constexpr StringRef kWithInPlaceForm[] = {
    "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "arccos",
    "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh",
    "baddbmm", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "ceil", "celu", "clamp", "clamp_max", "clamp_min", "clip", "conj_physical", "copy", "copysign", "cos", "cosh",
    "cumprod", "cumsum", "deg2rad", "detach", "digamma", "div", "divide", "elu", "eq", "erf", "erfc",
    "erfinv", "exp", "exp2", "expm1", "fill", "fix", "float_power", "floor", "floor_divide", "fmod", "frac", "ge",
    "gcd", "gelu", "greater", "greater_equal", "gt", "hardsigmoid", "hardswish", "hardtanh", "heaviside", "hypot", "i0", "igamma", "igammac",
    "index_add", "index_copy", "index_fill", "index_put", "index_reduce", "lcm", "le", "leaky_relu", "lerp", "less",
    "less_equal", "lgamma", "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logit", "lt", "masked_fill", "masked_scatter", "mish", "mul", "multiply", "mvlgamma",
    "nan_to_num", "ne", "neg", "negative", "nextafter", "not_equal", "polygamma", "pow", "put", "rad2deg",
    "reciprocal", "relu", "relu6", "remainder", "renorm", "round", "rrelu", "rsqrt", "scatter", "scatter_add",
    "scatter_reduce", "selu", "sgn", "sigmoid", "sign", "silu", "sin", "sinc", "sinh", "sqrt", "square", "sub",
    "subtract", "tan", "tanh", "threshold", "tril", "triu", "true_divide", "trunc", "xlogy", "zero",
};
// clang-format on

/// Enters the forms that write to `self`, "add_.Tensor", of ops that have one.
static void addInPlaceForms(OpTable& table) {
  SmallVector<std::pair<std::string, OpEntry>> forms;
  for (const auto& entry : table) {
    auto [name, overload] = entry.getKey().split('.');
    if (llvm::is_contained(kWithInPlaceForm, name))
      forms.emplace_back((name + "_." + overload).str(), entry.getValue());
  }
  for (auto& [name, entry] : forms) table[name] = std::move(entry);
  // Overloads that have other names.
  enter(table, {"pow_.Scalar", "float_power_.Scalar"}, table.lookup("pow.Tensor_Scalar"));
  enter(table, {"pow_.Tensor", "float_power_.Tensor"}, table.lookup("pow.Tensor_Tensor"));
  enter(table, {"floor_divide_.Tensor"}, table.lookup("floor_divide.default"));
  enter(table, {"ldexp_.default"}, table.lookup("ldexp.Tensor"));
}

static const OpTable& getTable() {
  static const OpTable table = [] {
    OpTable all;
    for (auto add : {addActivationOps, addAttentionOps,     addContractionOps, addConvolutionOps, addCreationOps,
                     addCumulativeOps, addDerivativeOps,    addDistanceOps,    addEinsumOps,      addElementwiseOps,
                     addGammaOps,      addIndexOps,         addIntegerOps,     addJoinOps,        addLossOps,
                     addMarginLossOps, addNormalizationOps, addOrderOps,       addPadOps,         addPoolOps,
                     addRandomOps,     addRecurrentOps,     addReductionOps,   addResampleOps,    addScatterOps,
                     addShapeOps,      addSpecialOps,       addViewOps})
      add(all);
    addInPlaceForms(all);
    return all;
  }();
  return table;
}

SmallVector<std::string> mlir::sgd::torch::getLoweredOps() {
  SmallVector<std::string> names;
  for (const auto& entry : getTable()) names.push_back("aten." + entry.getKey().str());
  for (StringRef target : getControlFlowTargets()) names.push_back(target.str());
  llvm::sort(names);
  return names;
}

const OpEntry* mlir::sgd::torch::findLowering(StringRef target) {
  if (!target.consume_front("aten.")) return nullptr;
  auto found = getTable().find(target);
  return found == getTable().end() ? nullptr : &found->second;
}
