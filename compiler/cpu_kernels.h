// The cpu target as the compiler sees it: what it says about kernels, and their code for one kind of CPU.
#ifndef SGD_COMPILER_CPU_KERNELS_H
#define SGD_COMPILER_CPU_KERNELS_H

#include "compiler/options.h"
#include "compiler/timings.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/memory/passes.h"
#include "runtime/artifact/writer.h"

namespace mlir::sgd {

/// Kernels as targets/cpu/codegen describes them; the time that takes goes to `timings` unless null.
KernelModel getCpuKernelModel(Timings* timings);

/// Compiles all kernels of `plan` and gives the object, the CPU's name and what it needs to `writer`.
LogicalResult compileCpuKernels(ModuleOp plan, const CompileOptions& options, ::sgd::artifact::ArtifactWriter& writer,
                                Timings* timings);

}  // namespace mlir::sgd

#endif
