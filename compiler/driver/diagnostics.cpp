// Prints diagnostics on one line; nothing here can fail.
#include "compiler/driver/diagnostics.h"

#include "dialects/sgd/source_line.h"
#include "runtime/artifact/short_message.h"

using namespace mlir;
using namespace mlir::sgd;

DiagnosticPrinter::DiagnosticPrinter(MLIRContext* context, llvm::raw_ostream& errors)
    : errors(errors), handler(context, [this](Diagnostic& diagnostic) {
        print(diagnostic);
        return success();
      }) {}

/// `text` with blanks for what ends lines, and without the middle of names that would hide the cause.
static std::string onOneLine(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return ::sgd::artifact::ShortMessage(text);
}

static llvm::StringRef getWord(DiagnosticSeverity severity) {
  if (severity == DiagnosticSeverity::Error) return "error";
  return severity == DiagnosticSeverity::Warning ? "warning" : "remark";
}

void DiagnosticPrinter::print(Diagnostic& diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (diagnostic.getSeverity() == DiagnosticSeverity::Note) return;
  if (isError && printedError) return;
  printedError |= isError;
  std::string place = getSourceLine(diagnostic.getLocation());
  errors << ::sgd::artifact::ShortMessage(place.empty() ? fileName : place) << ": " << getWord(diagnostic.getSeverity())
         << ": " << onOneLine(diagnostic.str()) << "\n";
}

void DiagnosticPrinter::error(const llvm::Twine& message) {
  if (printedError) return;
  printedError = true;
  errors << (fileName.empty() ? "sgdc" : ::sgd::artifact::ShortMessage(fileName))
         << ": error: " << onOneLine(message.str()) << "\n";
}
