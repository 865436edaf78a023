// Helpers for readers of JSON that is written by hand, and readers of a recipe's fields.
#ifndef SGD_COMPILER_RECIPE_RECIPE_JSON_H
#define SGD_COMPILER_RECIPE_RECIPE_JSON_H

#include <optional>
#include <string>

#include "compiler/recipe/recipe.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "passes/spmd/compress/compression_settings.h"
#include "runtime/json/json_text.h"

namespace mlir::sgd {

using ::sgd::json::ShowJson;

/// `text` as JSON, by nlohmann-json, which keeps the order of fields. Errors are the end of a sentence about the text:
/// where it is no JSON, or that it is nested deeper than any `kind` is.
llvm::Expected<nlohmann::ordered_json> parseJson(llvm::StringRef text, llvm::StringRef kind);

/// A whole number of 64 bits, or nothing.
std::optional<int64_t> getInteger(const nlohmann::ordered_json& value);

/// Returns an error about a recipe.
inline llvm::Error fail(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Fails for a field of `object` that is not `known`, with the nearest name. `prefix` is the object's path and a dot.
llvm::Error checkFieldNames(const nlohmann::ordered_json& object, const llvm::Twine& prefix,
                            llvm::ArrayRef<llvm::StringRef> known);

/// The value of a field `compress.AXIS`, which is `path`: the name of a kind, or an object with one and its size.
llvm::Expected<CompressionSetting> readCompression(const std::string& path, const nlohmann::ordered_json& value);

/// The value of the field `stages`: their number, or a list of globs.
llvm::Expected<RecipeStages> readStages(const nlohmann::ordered_json& value);

/// The value of the field `train`.
llvm::Expected<RecipeTraining> readTraining(const nlohmann::ordered_json& value);

/// The value of the field `precision`.
llvm::Expected<RecipePrecision> readPrecision(const nlohmann::ordered_json& value);

/// The value of the field `expect`.
llvm::Expected<std::vector<Expectation>> readExpectations(const nlohmann::ordered_json& value);

/// The value of the field `schedule`, which getScheduleChoices reads.
llvm::Expected<std::string> readSchedule(const nlohmann::ordered_json& value);

}  // namespace mlir::sgd

#endif
