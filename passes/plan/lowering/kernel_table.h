// The kernels of a plan module: equal clusters share one plan.kernel.
#ifndef SGD_PASSES_PLAN_LOWERING_KERNEL_TABLE_H
#define SGD_PASSES_PLAN_LOWERING_KERNEL_TABLE_H

#include <map>
#include <string>

#include "dialects/fusion/fusion_dialect.h"
#include "passes/plan/lowering/passes.h"

namespace mlir::sgd {

class KernelTable {
 public:
  struct Entry {
    FlatSymbolRefAttr symbol;
    KernelDescription description;
  };

  /// Kernels are added at the end of `module`, as `kernel_0`, `kernel_1`, ...
  KernelTable(ModuleOp module, const KernelModel& model) : module(module), model(model) {}

  /// The kernel of `cluster`, which is copied; fails where the target cannot compile it.
  FailureOr<Entry> getOrCreate(fusion::ClusterOp cluster);

 private:
  ModuleOp module;
  const KernelModel& model;
  std::map<std::string, Entry> entries;
};

}  // namespace mlir::sgd

#endif
