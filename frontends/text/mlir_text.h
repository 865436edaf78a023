// Text of MLIR, of whatever dialects.
#ifndef SGD_FRONTENDS_TEXT_MLIR_TEXT_H
#define SGD_FRONTENDS_TEXT_MLIR_TEXT_H

#include "frontends/frontend.h"

namespace mlir::sgd {

/// Whether `bytes` can be text: there are some, and the first 64, where binary formats have their magic numbers and
/// lengths, have no control characters but white space. MLIR's bytecode, which its parser would read too, is none.
/// Behind these bytes what is no text is for the parser to refuse, at its place.
bool isText(StringRef bytes);

/// Parses a text within the limits of text_limits.h; behind its bytes there is a NUL. Null after an error.
OwningOpRef<ModuleOp> parseText(MLIRContext* context, llvm::MemoryBufferRef source);

/// As the phase "parse" of an import.
OwningOpRef<ModuleOp> parseProgram(MLIRContext* context, llvm::MemoryBufferRef source, const ImportOptions& options);

}  // namespace mlir::sgd

#endif
