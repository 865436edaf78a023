// Files that the compiler reads and writes.
#ifndef SGD_COMPILER_FILES_H
#define SGD_COMPILER_FILES_H

#include <string>
#include <vector>

#include "compiler/options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Support/LogicalResult.h"

namespace mlir::sgd {

/// One program's bytes, text or not. `fileName` is what errors call it (`<stdin>` for standard input).
struct ProgramSource {
  std::string name;
  std::string fileName;
  std::string text;
};

/// Reads the recipe that `options` name. Prints one line to `errors` on failure.
LogicalResult readRecipeFile(CompileOptions& options, llvm::raw_ostream& errors);

/// Reads `MODEL` or `NAME=MODEL ...`; `-` is standard input. A single unnamed MODEL is the program `main`. Several must
/// be named, with distinct names of letters, digits, `_` and `-`. Prints one line to `errors` on failure. Unless
/// `whole`, archives of models stay in their files; see kRestInFile.
FailureOr<std::vector<ProgramSource>> readSources(llvm::ArrayRef<std::string> models, bool whole,
                                                  llvm::raw_ostream& errors);

/// Whether writeFile may write to `path`, before the work of which it will hold the result. Prints one line to `errors`
/// where it may not.
LogicalResult checkWritable(llvm::StringRef path, llvm::raw_ostream& errors);

/// Writes `bytes` to `path` by way of a neighbouring file that is renamed, so that `path` is untouched or complete. One
/// line to `errors` on failure.
LogicalResult writeFile(llvm::StringRef path, llvm::StringRef bytes, llvm::raw_ostream& errors);

}  // namespace mlir::sgd

#endif
