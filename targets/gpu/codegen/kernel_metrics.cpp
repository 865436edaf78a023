// Measures a kernel's LLVM IR.
#include "targets/gpu/codegen/kernel_metrics.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "targets/gpu/codegen/block_builder.h"

using namespace mlir::sgd::gpu;

static constexpr llvm::StringLiteral kSchedule = "sgd.schedule";

void mlir::sgd::gpu::setSchedule(llvm::Function& kernel, llvm::StringRef name) { kernel.addFnAttr(kSchedule, name); }

static unsigned widestAccess(const llvm::Function& kernel) {
  const llvm::DataLayout& layout = kernel.getParent()->getDataLayout();
  uint64_t widest = 0;
  for (const llvm::BasicBlock& block : kernel)
    for (const llvm::Instruction& instruction : block)
      if (const llvm::Value* where = llvm::getLoadStorePointerOperand(&instruction))
        if (where->getType()->getPointerAddressSpace() == kGlobal)
          widest = std::max<uint64_t>(widest, layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction)));
  return widest;
}

KernelMetrics mlir::sgd::gpu::getMetrics(const llvm::Function& kernel) {
  KernelMetrics metrics;
  kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, metrics.threads);
  metrics.schedule = kernel.getFnAttribute(kSchedule).getValueAsString();
  metrics.accessBytes = widestAccess(kernel);
  const llvm::Module& module = *kernel.getParent();
  for (const llvm::GlobalVariable& array : module.globals())
    if (array.getAddressSpace() == kShared && array.getName().starts_with(kernel.getName().str() + "_"))
      metrics.sharedBytes += module.getDataLayout().getTypeAllocSize(array.getValueType());
  return metrics;
}
