// JSON of recipes, and words for what is found in them.
#include "compiler/recipe/recipe_json.h"

#include "compiler/recipe/recipe.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::sgd;
using Json = nlohmann::ordered_json;

llvm::Expected<Json> mlir::sgd::parseJson(llvm::StringRef text, llvm::StringRef kind) {
  if (auto fault = ::sgd::json::FindJsonFault(text))
    return llvm::createStringError(fault->text + (fault->is_syntax ? "" : ("; correct the " + kind).str()));
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

std::optional<int64_t> mlir::sgd::getInteger(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return std::nullopt;
  return value.get<int64_t>();
}

llvm::Error mlir::sgd::checkFieldNames(const Json& object, const llvm::Twine& prefix,
                                       llvm::ArrayRef<llvm::StringRef> known) {
  for (const auto& [name, value] : object.items()) {
    if (llvm::is_contained(known, llvm::StringRef(name))) continue;
    llvm::StringRef nearest = findNearestName(name, known);
    std::string hint =
        nearest.empty() ? "the fields are " + llvm::join(known, ", ") : ("did you mean '" + nearest + "'?").str();
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "field '" + prefix + name + "' is unknown; " + hint);
  }
  return llvm::Error::success();
}
