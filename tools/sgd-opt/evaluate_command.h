// `sgd-opt --evaluate`: a module's function run by the reference evaluator on tensor files.
#ifndef SGD_TOOLS_SGD_OPT_EVALUATE_COMMAND_H
#define SGD_TOOLS_SGD_OPT_EVALUATE_COMMAND_H

#include "llvm/ADT/StringRef.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::sgd {

/// Runs the command line from after the program's name; it holds `--evaluate`. Returns the exit code: 0 done, 1 the
/// input is at fault, 2 wrong usage.
int evaluateCommand(int argc, char** argv, const DialectRegistry& registry);

/// False, with a message, for a file whose text is nested so deeply that the parser's stack would overflow. A file that
/// cannot be read is the parser's to report.
bool isSafeToParse(llvm::StringRef path);

}  // namespace mlir::sgd

#endif
