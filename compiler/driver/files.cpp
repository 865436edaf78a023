#include "compiler/driver/files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "runtime/artifact/writer.h"

using namespace mlir;
using namespace mlir::sgd;

static bool isProgramName(StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; });
}

/// Read, not mapped: a file that another program cuts short meanwhile must not end this process.
static llvm::Error readText(StringRef path, std::string& text) {
  const bool isInput = path == "-";
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::getStdinHandle();
  if (!isInput) file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file) return file.takeError();
  SmallVector<char, 0> bytes;
  llvm::Error error = llvm::sys::fs::readNativeFileToEOF(*file, bytes, /*ChunkSize=*/1 << 20);
  if (!isInput) llvm::sys::fs::closeFile(*file);
  text.assign(bytes.begin(), bytes.end());
  return error;
}

FailureOr<std::vector<ProgramSource>> mlir::sgd::readSources(ArrayRef<std::string> models, llvm::raw_ostream& errors) {
  std::vector<ProgramSource> sources;
  for (StringRef model : models) {
    ProgramSource source;
    auto [name, path] = model.split('=');
    bool isNamed = isProgramName(name) && model.contains('=');
    if (!isNamed && models.size() > 1) {
      errors << "sgdc: error: '" << model << "': several models must be given as NAME=MODEL\n";
      return failure();
    }
    source.name = isNamed ? name.str() : "main";
    source.fileName = isNamed ? path.str() : model.str();
    if (llvm::any_of(sources, [&](const ProgramSource& other) { return other.name == source.name; })) {
      errors << "sgdc: error: two programs are named '" << source.name << "'\n";
      return failure();
    }
    if (llvm::Error error = readText(source.fileName, source.text)) {
      errors << source.fileName << ": error: cannot read: " << llvm::toString(std::move(error)) << "\n";
      return failure();
    }
    if (source.fileName == "-") source.fileName = "<stdin>";
    sources.push_back(std::move(source));
  }
  return sources;
}

LogicalResult mlir::sgd::readRecipeFile(StringRef path, CompileOptions& options, llvm::raw_ostream& errors) {
  options.recipeFile = path.str();
  llvm::Error error = readText(path, options.recipe);
  if (!error) return success();
  errors << path << ": error: cannot read the recipe: " << llvm::toString(std::move(error)) << "\n";
  return failure();
}

static LogicalResult check(const absl::Status& status, llvm::raw_ostream& errors) {
  if (status.ok()) return success();
  errors << "sgdc: error: " << std::string(status.message()) << "\n";
  return failure();
}

LogicalResult mlir::sgd::checkWritable(StringRef path, llvm::raw_ostream& errors) {
  return check(::sgd::artifact::CheckWritable(path.str()), errors);
}

LogicalResult mlir::sgd::writeFile(StringRef path, StringRef bytes, llvm::raw_ostream& errors) {
  return check(::sgd::artifact::WriteFileAtomically(path.str(), std::string_view(bytes.data(), bytes.size())), errors);
}
