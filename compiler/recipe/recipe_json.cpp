// JSON of recipes, and words for what is found in them.
#include "compiler/recipe/recipe_json.h"

#include "compiler/recipe/recipe.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir::sgd;
using Json = nlohmann::ordered_json;

llvm::Expected<Json> mlir::sgd::parseJson(llvm::StringRef text, llvm::StringRef kind) {
  if (text.trim().empty()) return fail("is empty; expected an object with the fields of a " + kind);
  if (auto fault = ::sgd::json::FindJsonFault(text))
    return llvm::createStringError(fault->text + (fault->is_syntax ? "" : ("; correct the " + kind).str()));
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

std::optional<int64_t> mlir::sgd::getInteger(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return std::nullopt;
  return value.get<int64_t>();
}

/// The field that users of other libraries call `name`; empty for all other names.
static llvm::StringRef findSynonym(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"lr", "alpha", "step_size"}, "learning_rate")
      .Cases({"beta1", "beta2", "b1", "b2"}, "betas")
      .Case("epsilon", "eps")
      .Cases({"wd", "decay"}, "weight_decay")
      .Cases({"warmup_steps", "num_warmup_steps"}, "warmup")
      .Cases({"total_steps", "decay_steps", "T_max"}, "steps")
      .Cases({"microbatches", "micro_batches", "accumulation_steps"}, "sequential")
      .Cases({"zero_stage", "fsdp"}, "zero")
      .Cases({"pipeline", "pp"}, "stages")
      .Cases({"clip_grad_norm", "max_norm", "grad_clip"}, "clip_global_norm")
      .Cases({"dtype", "compute_dtype", "amp"}, "compute")
      .Default("");
}

llvm::Error mlir::sgd::checkFieldNames(const Json& object, const llvm::Twine& prefix,
                                       llvm::ArrayRef<llvm::StringRef> known) {
  for (const auto& [name, value] : object.items()) {
    if (llvm::is_contained(known, llvm::StringRef(name))) continue;
    llvm::StringRef nearest = findSynonym(name);
    if (!llvm::is_contained(known, nearest)) nearest = findNearestName(name, known);
    std::string hint =
        nearest.empty() ? "the fields are " + llvm::join(known, ", ") : ("did you mean '" + nearest + "'?").str();
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "field '" + prefix + name + "' is unknown; " + hint);
  }
  return llvm::Error::success();
}
