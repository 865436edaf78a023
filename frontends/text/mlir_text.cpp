#include "frontends/text/mlir_text.h"

#include "frontends/text/text_limits.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isText(StringRef bytes) {
  constexpr size_t kExamined = 64;
  if (bytes.empty() || isBytecode(llvm::MemoryBufferRef(bytes, ""))) return false;
  auto isControl = [](unsigned char c) { return (c < ' ' && !llvm::isSpace(c)) || c == '\x7f'; };
  return llvm::none_of(bytes.take_front(kExamined), isControl);
}

/// The line and column of position `at` in the source.
static Location getLocation(MLIRContext* context, llvm::MemoryBufferRef source, size_t at) {
  StringRef before = source.getBuffer().take_front(at);
  return FileLineColLoc::get(context, source.getBufferIdentifier(), before.count('\n') + 1, at - before.rfind('\n'));
}

/// Whether more blocks begin than end. Braces in strings count too, so it only explains errors.
static bool endsInBlock(StringRef text) { return text.count('{') > text.count('}'); }

OwningOpRef<ModuleOp> mlir::sgd::parseText(MLIRContext* context, llvm::MemoryBufferRef source) {
  if (std::optional<TextFault> fault = findTextFault(source.getBuffer())) {
    emitError(getLocation(context, source, fault->position)) << fault->message;
    return nullptr;
  }
  auto manager = std::make_shared<llvm::SourceMgr>();
  manager->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(source), llvm::SMLoc());
  ScopedDiagnosticHandler handler(context, [&](Diagnostic& diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && endsInBlock(source.getBuffer()))
      diagnostic << "; the text ends inside a block, so the file may be truncated; export or copy it again";
    return failure();
  });
  return parseSourceFile<ModuleOp>(manager, ParserConfig(context));
}

OwningOpRef<ModuleOp> mlir::sgd::parseProgram(MLIRContext* context, llvm::MemoryBufferRef source,
                                              const ImportOptions& options) {
  if (options.enterPhase) options.enterPhase("parse");
  OwningOpRef<ModuleOp> module = parseText(context, source);
  if (options.enterPhase) options.enterPhase("import");
  return module;
}
