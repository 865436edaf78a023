// A counter that threads take numbers from.
#include "targets/kernels/host_threads.h"

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/thread/spawn_thread.h"

void mlir::sgd::kernels::runOnHostThreads(MLIRContext& context, size_t count, unsigned threads,
                                          llvm::function_ref<void(size_t)> body) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t number = next++; number < count; number = next++) body(number);
  };
  unsigned helpers = std::min<size_t>(threads, count);
  // Constants of kernels are attributes, which only a context with threading enabled makes safely.
  bool enables = helpers > 1 && !context.isMultithreadingEnabled();
  if (enables) context.enableMultithreading();
  std::vector<std::thread> running;
  // Where a limit is reached, fewer threads do the same work.
  for (unsigned helper = 1; helper < helpers; ++helper) {
    auto thread = ::sgd::SpawnThread("compiling kernels", work);
    if (!thread.ok()) break;
    running.push_back(*std::move(thread));
  }
  work();
  for (std::thread& helper : running) helper.join();
  if (enables) context.disableMultithreading();
}
