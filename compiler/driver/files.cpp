#include "compiler/driver/files.h"

#include "frontends/frontends.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/writer.h"
#include "runtime/text/text_file.h"

using namespace mlir;
using namespace mlir::sgd;

static bool isProgramName(StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; });
}

static std::optional<std::string> readText(const std::string& path, std::string& text) {
  return path == "-" ? ::sgd::text::ReadStandardInput(text) : ::sgd::text::ReadTextFile(path, text);
}

/// Reads a model, or the start of an archive whose frontend reads the rest from the file.
static std::optional<std::string> readModel(const std::string& path, bool whole, std::string& text) {
  constexpr size_t kStart = size_t{1} << 16;
  if (whole || path == "-") return readText(path, text);
  std::optional<std::string> fault = ::sgd::text::ReadStartOfFile(path, kStart, text);
  if (fault || text.size() < kStart) return fault;
  auto isForOne = [&](const Frontend* frontend) { return frontend->readsFromFile(text); };
  if (llvm::none_of(getFrontends(), isForOne)) return readText(path, text);
  text += kRestInFile;
  return std::nullopt;
}

FailureOr<std::vector<ProgramSource>> mlir::sgd::readSources(ArrayRef<std::string> models, bool whole,
                                                             llvm::raw_ostream& errors) {
  std::vector<ProgramSource> sources;
  for (StringRef model : models) {
    ProgramSource source;
    auto [name, path] = model.split('=');
    bool isNamed = isProgramName(name) && model.contains('=');
    if (!isNamed && models.size() > 1) {
      errors << "sgdc: error: '" << ::sgd::artifact::ShortMessage(model)
             << "': several models must be given as NAME=MODEL\n";
      return failure();
    }
    source.name = isNamed ? name.str() : "main";
    source.fileName = isNamed ? path.str() : model.str();
    if (llvm::any_of(sources, [&](const ProgramSource& other) { return other.name == source.name; })) {
      errors << "sgdc: error: two programs are named '" << ::sgd::artifact::ShortMessage(source.name) << "'\n";
      return failure();
    }
    if (std::optional<std::string> fault = readModel(source.fileName, whole, source.text)) {
      errors << ::sgd::artifact::ShortMessage(source.fileName) << ": error: cannot read: " << *fault << "\n";
      return failure();
    }
    if (source.fileName == "-") source.fileName = "<stdin>";
    sources.push_back(std::move(source));
  }
  return sources;
}

LogicalResult mlir::sgd::readRecipeFile(CompileOptions& options, llvm::raw_ostream& errors) {
  std::optional<std::string> fault = readText(options.recipeFile, options.recipe);
  if (!fault) return success();
  errors << ::sgd::artifact::ShortMessage(options.recipeFile) << ": error: cannot read the recipe: " << *fault << "\n";
  return failure();
}

static LogicalResult check(const absl::Status& status, llvm::raw_ostream& errors) {
  if (status.ok()) return success();
  errors << "sgdc: error: " << ::sgd::artifact::ShortMessage(std::string(status.message())) << "\n";
  return failure();
}

LogicalResult mlir::sgd::checkWritable(StringRef path, llvm::raw_ostream& errors) {
  return check(::sgd::artifact::CheckWritable(path.str()), errors);
}

LogicalResult mlir::sgd::writeFile(StringRef path, StringRef bytes, llvm::raw_ostream& errors) {
  return check(::sgd::artifact::WriteFileAtomically(path.str(), std::string_view(bytes.data(), bytes.size())), errors);
}
