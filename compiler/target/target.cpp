// The list of targets.
#include "compiler/target/target.h"

#include "compiler/target/cpu_target.h"
#include "compiler/target/cuda_target.h"

using namespace mlir;
using namespace mlir::sgd;

static llvm::Error prefixed(llvm::Error error) {
  return llvm::createStringError("--target: " + llvm::toString(std::move(error)));
}

llvm::Expected<std::unique_ptr<Target>> Target::create(const CompileOptions& options) {
  StringRef name = StringRef(options.target).split(':').first;
  if (options.target == "cpu") return createCpuTarget(options);
  if (options.target == "cuda")
    return prefixed(llvm::createStringError("cuda needs the GPU's architecture, such as cuda:sm_90"));
  if (name != "cuda")
    return prefixed(llvm::createStringError("'" + options.target + "' is not supported; use cpu or cuda:sm_90"));
  if (options.cpu != "native") return llvm::createStringError("--cpu: is for the target cpu alone");
  auto target = createCudaTarget(options);
  if (!target) return prefixed(target.takeError());
  return target;
}
