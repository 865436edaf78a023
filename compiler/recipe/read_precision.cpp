// The field `precision` of a recipe: types of programs that the field `train` makes.
#include "compiler/recipe/recipe.h"
#include "compiler/recipe/recipe_json.h"

using namespace mlir::sgd;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;
using Json = nlohmann::ordered_json;

namespace {

constexpr double kFirstDynamicScale = 65536;

Error expected(const Twine& name, const Json& value, const Twine& what) {
  return fail("field 'precision." + name + "' is " + ShowJson(value) + "; expected " + what);
}

Error readCompute(const Json& value, PrecisionSettings& settings) {
  if (value == "f32") return Error::success();
  if (value != "bf16" && value != "f16") return expected("compute", value, "\"bf16\", \"f16\" or \"f32\"");
  settings.compute = value == "bf16" ? NarrowType::BFloat16 : NarrowType::Float16;
  return Error::success();
}

Error readReduce(const Json& value, PrecisionSettings& settings) {
  if (value != "f32" && value != "own")
    return expected("reduce", value, "\"f32\", or \"own\" for the type that gradients are computed in");
  settings.sumsInF32 = value == "f32";
  return Error::success();
}

Error readLossScale(const Json& value, PrecisionSettings& settings) {
  settings.isDynamic = value == "dynamic";
  settings.lossScale = settings.isDynamic ? kFirstDynamicScale : value.is_number() ? value.get<double>() : 0;
  bool isUsable = settings.lossScale > 0 && settings.lossScale <= 0x1p100;
  return isUsable ? Error::success() : expected("loss_scale", value, "\"dynamic\" or a positive number");
}

/// {"layers.*.norm": "f32"}
Error readScopes(const Json& value, std::vector<std::string>& wide) {
  if (!value.is_object()) return expected("scopes", value, "an object, {\"layers.*.norm\": \"f32\"}");
  for (const auto& [glob, type] : value.items()) {
    if (type != "f32")
      return expected("scopes." + Twine(glob), type, "\"f32\": all other scopes are as 'compute' says");
    wide.push_back(glob);
  }
  return Error::success();
}

}  // namespace

llvm::Expected<RecipePrecision> mlir::sgd::readPrecision(const Json& value) {
  if (!value.is_object())
    return fail("field 'precision' is " + ShowJson(value) + "; expected an object, {\"compute\": \"bf16\"}");
  StringRef known[] = {"compute", "reduce", "loss_scale", "scopes"};
  if (Error error = checkFieldNames(value, "precision.", known)) return std::move(error);
  RecipePrecision precision;
  for (const auto& [name, field] : value.items()) {
    Error error = name == "compute"      ? readCompute(field, precision.settings)
                  : name == "reduce"     ? readReduce(field, precision.settings)
                  : name == "loss_scale" ? readLossScale(field, precision.settings)
                                         : readScopes(field, precision.wideScopes);
    if (error) return std::move(error);
  }
  return precision;
}
