// From clusters to machine code: plans, IR, LLVM's passes and back end in parallel groups, and the link.
#include "targets/cpu/codegen/codegen.h"

#include "llvm/IR/Verifier.h"
#include "targets/cpu/codegen/generator_pool.h"
#include "targets/cpu/codegen/kernel_emitter.h"
#include "targets/cpu/codegen/row_kernels.h"
#include "targets/cpu/codegen/shared_object.h"
#include "targets/kernels/host_threads.h"
#include "targets/kernels/row_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

/// Kernels of one LLVM context; fixed, so that the bytes do not depend on the number of threads.
static constexpr size_t kGroup = 8;

static FailureOr<SmallVector<char, 0>> compileGroup(ArrayRef<KernelRequest> requests, const CpuTarget& target) {
  PooledGenerator generator(target);
  if (!generator.get()) return failure();
  const llvm::TargetMachine& machine = generator.get()->getMachine();
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  for (const KernelRequest& request : requests) {
    if (Operation* rowOp = getRowOp(request.body)) {
      if (failed(emitRowKernel(module, request.body, rowOp, request.symbol))) return failure();
      continue;
    }
    FailureOr<KernelPlan> plan = planKernel(request.body);
    if (failed(plan)) return failure();
    if (failed(KernelEmitter(module, *plan, request.symbol, request.inPlace, target.vectorBits / 32).run()))
      return failure();
  }
  std::string problem;
  llvm::raw_string_ostream explanation(problem);
  if (llvm::verifyModule(module, &explanation)) {
    requests.front().body->emitError("kernel IR is not valid: ") << problem;
    return failure();
  }
  generator.get()->optimize(module);
  return generator.get()->emit(module);
}

FailureOr<SmallVector<char, 0>> mlir::sgd::cpu::compileKernels(ArrayRef<KernelRequest> requests,
                                                               const CpuTarget& target, unsigned threads) {
  size_t groups = llvm::divideCeil(requests.size(), kGroup);
  std::vector<FailureOr<SmallVector<char, 0>>> compiled(groups, FailureOr<SmallVector<char, 0>>(failure()));
  if (requests.empty()) return SmallVector<char, 0>();
  runOnHostThreads(*requests.front().body->getContext(), groups, threads, [&](size_t group) {
    compiled[group] = compileGroup(requests.slice(group * kGroup).take_front(kGroup), target);
  });
  SmallVector<SmallVector<char, 0>> objects;
  for (auto& object : compiled) {
    if (failed(object)) return failure();
    objects.push_back(std::move(*object));
  }
  llvm::Expected<SmallVector<char, 0>> linked = linkSharedObject(objects);
  if (linked) return std::move(*linked);
  std::string problem = llvm::toString(linked.takeError());
  requests.front().body->emitError("kernels cannot be linked: ") << problem;
  return failure();
}
