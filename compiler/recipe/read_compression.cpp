// Kinds of compression by their names, and the size that each may have.
#include "compiler/recipe/recipe.h"
#include "compiler/recipe/recipe_json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::sgd;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;
using Json = nlohmann::ordered_json;

namespace {

/// A size of a kind that is a whole number.
struct WholeSize {
  StringRef name;
  int64_t CompressionSetting::* field;
  int64_t least, most;
};

struct Kind {
  CompressionKind kind;
  std::optional<WholeSize> size;
};

}  // namespace

static constexpr Kind kKinds[] = {
    {CompressionKind::BF16, std::nullopt},
    {CompressionKind::Int8, WholeSize{"block", &CompressionSetting::block, 8, 1 << 20}},
    {CompressionKind::PowerSGD, WholeSize{"rank", &CompressionSetting::rank, 1, 64}},
    {CompressionKind::TopK, std::nullopt},
};

static llvm::Expected<const Kind*> findKind(const Twine& path, const Json& value) {
  llvm::SmallVector<StringRef> names;
  for (const Kind& kind : kKinds) {
    names.push_back(stringifyCompressionKind(kind.kind));
    if (value == names.back().str()) return &kind;
  }
  std::string text = value.is_string() ? value.get<std::string>() : "";
  StringRef nearest = findNearestName(text, names);
  return fail(
      "field '" + path + "' is " + ShowJson(value) + "; " +
      (nearest.empty() ? "expected one of " + llvm::join(names, ", ") : ("did you mean '" + nearest + "'?").str()));
}

static Error readSize(const std::string& path, const Json& value, const WholeSize& size, CompressionSetting& setting) {
  std::optional<int64_t> number = getInteger(value);
  if (!number || *number < size.least || *number > size.most)
    return fail("field '" + Twine(path) + "." + size.name + "' is " + ShowJson(value) +
                "; expected a whole number from " + Twine(size.least) + " to " + Twine(size.most));
  setting.*size.field = *number;
  return Error::success();
}

static Error readShare(const std::string& path, const Json& value, CompressionSetting& setting) {
  double share = value.is_number() ? value.get<double>() : 0;
  if (!(share > 0 && share <= 0.5))
    return fail("field '" + Twine(path) + ".share' is " + ShowJson(value) +
                "; expected the part of the elements that is sent, above 0 and at most 0.5");
  setting.share = share;
  return Error::success();
}

llvm::Expected<CompressionSetting> mlir::sgd::readCompression(const std::string& path, const Json& value) {
  bool isObject = value.is_object();
  if (isObject && !value.contains("kind"))
    return fail("field '" + Twine(path) + ".kind' is missing; expected a kind of compression, \"bf16\"");
  llvm::Expected<const Kind*> kind = findKind(isObject ? path + ".kind" : path, isObject ? value["kind"] : value);
  if (!kind) return kind.takeError();
  CompressionSetting setting{(*kind)->kind};
  if (!isObject) return setting;
  llvm::SmallVector<StringRef> known = {"kind"};
  if ((*kind)->size) known.push_back((*kind)->size->name);
  if (setting.kind == CompressionKind::TopK) known.push_back("share");
  if (Error error = checkFieldNames(value, path + ".", known)) return std::move(error);
  if ((*kind)->size)
    if (auto size = value.find((*kind)->size->name.str()); size != value.end())
      if (Error error = readSize(path, *size, *(*kind)->size, setting)) return std::move(error);
  if (auto share = value.find("share"); share != value.end())
    if (Error error = readShare(path, *share, setting)) return std::move(error);
  return setting;
}
