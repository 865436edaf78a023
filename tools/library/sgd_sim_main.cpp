// The program sgd-sim, which is in the compiler's shared library.
#include "tools/library/compiler_library.h"

int main(int argc, char** argv) { return sgd::compiler::RunSimulatorCommand(argc, argv); }
