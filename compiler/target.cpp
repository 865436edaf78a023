// The list of targets.
#include "compiler/target.h"

#include "compiler/cpu_target.h"

using namespace mlir;
using namespace mlir::sgd;

llvm::Expected<std::unique_ptr<Target>> Target::create(const CompileOptions& options) {
  if (llvm::Error error = checkTarget(options.target)) return std::move(error);
  return createCpuTarget(options);
}
