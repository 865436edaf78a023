// The program sgdc as a function.
#ifndef SGD_TOOLS_SGDC_COMMAND_H
#define SGD_TOOLS_SGDC_COMMAND_H

namespace mlir::sgd {

/// The main function: reads files, prints, and returns the exit code or ends the process.
int runCompilerCommand(int argc, char** argv);

}  // namespace mlir::sgd

#endif
