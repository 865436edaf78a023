// `sgd-opt --replay`: a compilation goes on from the file that `sgdc --emit-request` wrote.
#ifndef SGD_TOOLS_SGD_OPT_REPLAY_COMMAND_H
#define SGD_TOOLS_SGD_OPT_REPLAY_COMMAND_H

namespace mlir::sgd {

/// Runs the command line from after the program's name; it holds `--replay`. Returns the exit code: 0 done, 1 the input
/// is at fault, 2 wrong usage.
int replayCommand(int argc, char** argv);

}  // namespace mlir::sgd

#endif
