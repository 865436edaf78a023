// The program sgd-sim as a function.
#ifndef SGD_TOOLS_SGD_SIM_COMMAND_H
#define SGD_TOOLS_SGD_SIM_COMMAND_H

namespace mlir::sgd {

/// The main function: reads files, prints, and returns the exit code or ends the process.
int runSimulatorCommand(int argc, char** argv);

}  // namespace mlir::sgd

#endif
