// Code generators that outlive a compilation.
#ifndef SGD_TARGETS_CPU_CODEGEN_GENERATOR_POOL_H
#define SGD_TARGETS_CPU_CODEGEN_GENERATOR_POOL_H

#include <memory>
#include <string>

#include "targets/cpu/codegen/cpu_target.h"
#include "targets/kernels/llvm_pipeline.h"

namespace mlir::sgd::cpu {

/// A code generator of object files for `target`, for one thread. Goes back to those of the process at the end.
class PooledGenerator {
 public:
  explicit PooledGenerator(const CpuTarget& target);
  ~PooledGenerator();
  PooledGenerator(const PooledGenerator&) = delete;
  PooledGenerator& operator=(const PooledGenerator&) = delete;

  /// Null when LLVM was built without x86.
  CodeGenerator* get() { return generator.get(); }

 private:
  std::string key;
  std::unique_ptr<CodeGenerator> generator;
};

}  // namespace mlir::sgd::cpu

#endif
