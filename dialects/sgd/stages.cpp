#include "dialects/sgd/stages.h"

using namespace mlir;
using namespace mlir::sgd;

std::map<std::string, SmallVector<func::FuncOp>> mlir::sgd::getStagePrograms(ModuleOp module) {
  std::map<std::string, SmallVector<func::FuncOp>> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal() && getStage(function))
      programs[getProgramName(function).str()].push_back(function);
  for (auto& [_, functions] : programs)
    llvm::sort(functions, [](func::FuncOp a, func::FuncOp b) { return *getStage(a) < *getStage(b); });
  return programs;
}
