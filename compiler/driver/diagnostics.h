// Diagnostics as a user of the command line reads them: one line each, with the place in their own source.
#ifndef SGD_COMPILER_DIAGNOSTICS_H
#define SGD_COMPILER_DIAGNOSTICS_H

#include <string>

#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::sgd {

/// While it lives, prints the first error and every warning and remark of a context as `file:line:col: error: ...`;
/// later errors are dropped, since they follow from the first. Diagnostics without a file location name `fileName`.
class DiagnosticPrinter {
 public:
  DiagnosticPrinter(MLIRContext* context, llvm::raw_ostream& errors);

  void setFileName(llvm::StringRef name) { fileName = name.str(); }

  /// Prints `message` unless an error was printed before.
  void error(const llvm::Twine& message);

 private:
  void print(Diagnostic& diagnostic);

  llvm::raw_ostream& errors;
  std::string fileName;
  bool printedError = false;
  ScopedDiagnosticHandler handler;
};

}  // namespace mlir::sgd

#endif
