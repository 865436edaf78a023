// A list under a lock.
#include "compiler/driver/context_pool.h"

#include <mutex>
#include <vector>

#include "compiler/driver/registration.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Texts after which a context is dropped.
constexpr size_t kMostBytes = size_t{1} << 22;
/// More are in use by threads that compile at the same time.
constexpr size_t kMostIdle = 2;

struct IdleContext {
  std::unique_ptr<MLIRContext> context;
  size_t compiledBytes;
};

struct IdleContexts {
  std::mutex mutex;
  std::vector<IdleContext> contexts;
};

/// Never destroyed: at the end of the process there is nothing to give back.
IdleContexts& getIdle() {
  static auto& idle = *new IdleContexts();
  return idle;
}

}  // namespace

std::unique_ptr<MLIRContext> mlir::sgd::createContext() {
  DialectRegistry registry;
  registerDialects(registry);
  return std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

PooledContext::PooledContext(size_t textBytes) : compiledBytes(textBytes) {
  {
    IdleContexts& idle = getIdle();
    const std::lock_guard lock(idle.mutex);
    if (!idle.contexts.empty()) {
      context = std::move(idle.contexts.back().context);
      compiledBytes += idle.contexts.back().compiledBytes;
      idle.contexts.pop_back();
    }
  }
  if (!context) context = createContext();
}

PooledContext::~PooledContext() {
  if (compiledBytes > kMostBytes) return;
  IdleContexts& idle = getIdle();
  const std::lock_guard lock(idle.mutex);
  if (idle.contexts.size() < kMostIdle) idle.contexts.push_back({std::move(context), compiledBytes});
}
