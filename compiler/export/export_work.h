// The cost of instructions, from the plan to the artifact.
#ifndef SGD_COMPILER_EXPORT_EXPORT_WORK_H
#define SGD_COMPILER_EXPORT_EXPORT_WORK_H

#include "dialects/cost/work.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// Adds the operations and bytes of `work` to those of `instruction`.
void addWork(const Work& work, ::sgd::artifact::InstructionT& instruction);

}  // namespace mlir::sgd

#endif
