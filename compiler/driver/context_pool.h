// Contexts that outlive a compilation: loading the dialects takes longer than compiling a small program.
#ifndef SGD_COMPILER_CONTEXT_POOL_H
#define SGD_COMPILER_CONTEXT_POOL_H

#include <cstddef>
#include <memory>

#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd {

/// A context with all dialects registered, and without threads.
std::unique_ptr<MLIRContext> createContext();

/// Such a context for one compilation. Goes back to the contexts of the process at the end,
/// unless it holds too much of what it has compiled: types, attributes and locations stay in a context.
class PooledContext {
 public:
  /// For programs of `textBytes` together.
  explicit PooledContext(size_t textBytes);
  ~PooledContext();
  PooledContext(const PooledContext&) = delete;
  PooledContext& operator=(const PooledContext&) = delete;

  MLIRContext& get() { return *context; }

 private:
  std::unique_ptr<MLIRContext> context;
  size_t compiledBytes = 0;  ///< of texts
};

}  // namespace mlir::sgd

#endif
