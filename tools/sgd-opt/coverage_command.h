// `sgd-opt --op-coverage`: which ops are known to which part of the compiler, as a page of documentation.
#ifndef SGD_TOOLS_SGD_OPT_COVERAGE_COMMAND_H
#define SGD_TOOLS_SGD_OPT_COVERAGE_COMMAND_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::sgd {

/// Runs the command line; it holds `--op-coverage`, the path of a module of samples: functions called like the op that
/// each of them holds, for ops that do not simply take and give tensors of one type; and the path of what
/// `sgd-fuzz --ops` prints. Prints the page. Returns the exit code: 0 done, 1 an op of `sgd` has no sample, or a file
/// cannot be read; 2 wrong usage.
int coverageCommand(int argc, char** argv, const DialectRegistry& registry);

}  // namespace mlir::sgd

#endif
