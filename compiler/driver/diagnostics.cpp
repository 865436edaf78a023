// Prints diagnostics on one line; nothing here can fail.
#include "compiler/driver/diagnostics.h"

#include "compiler/locations.h"

using namespace mlir;
using namespace mlir::sgd;

DiagnosticPrinter::DiagnosticPrinter(MLIRContext* context, llvm::raw_ostream& errors)
    : errors(errors), handler(context, [this](Diagnostic& diagnostic) {
        print(diagnostic);
        return success();
      }) {}

static std::string onOneLine(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return text;
}

void DiagnosticPrinter::print(Diagnostic& diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (!isError && diagnostic.getSeverity() != DiagnosticSeverity::Warning) return;
  if (isError && printedError) return;
  printedError |= isError;
  std::string place = getUserLocation(diagnostic.getLocation());
  errors << (place.empty() ? fileName : place) << ": " << (isError ? "error: " : "warning: ")
         << onOneLine(diagnostic.str()) << "\n";
}

void DiagnosticPrinter::error(const llvm::Twine& message) {
  if (printedError) return;
  printedError = true;
  errors << (fileName.empty() ? "sgdc" : fileName) << ": error: " << onOneLine(message.str()) << "\n";
}
