// How tools that compile end: by exit codes, never by signals.
#ifndef SGD_COMPILER_END_BY_ERRORS_H
#define SGD_COMPILER_END_BY_ERRORS_H

namespace mlir::sgd {

/// Makes what else would end this process by a signal an error of `tool`, a literal: writing a file that may not grow
/// further, writing to a reader that has gone, and memory that cannot be had.
void endByErrors(const char* tool);

/// Ends the process by `code`, or by 1 where standard output cannot be written and its reader has not gone. Nothing
/// that was opened needs its destructor: skips the teardown of the compiler's libraries.
[[noreturn]] void endBy(int code);

}  // namespace mlir::sgd

#endif
