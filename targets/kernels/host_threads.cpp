// A counter that threads take numbers from.
#include "targets/kernels/host_threads.h"

#include <atomic>
#include <thread>
#include <vector>

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
  for (unsigned helper = 1; helper < helpers; ++helper) running.emplace_back(work);
  work();
  for (std::thread& helper : running) helper.join();
  if (enables) context.disableMultithreading();
}
