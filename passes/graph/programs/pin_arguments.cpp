// The pass sgd-pin-arguments.
#include "dialects/sgd/programs.h"
#include "llvm/ADT/StringMap.h"
#include "passes/graph/programs/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PINARGUMENTSPASS
#include "passes/graph/programs/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct PinArgumentsPass : mlir::sgd::impl::PinArgumentsPassBase<PinArgumentsPass> {
  using PinArgumentsPassBase::PinArgumentsPassBase;

  void runOnOperation() override {
    llvm::StringMap<SmallVector<BlockArgument, 2>> byName;
    for (ModuleOp program : getPrograms(getOperation()))
      for (auto function : program.getOps<func::FuncOp>())
        for (BlockArgument argument : function.getArguments())
          if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
            byName[name.getValue()].push_back(argument);
    for (const auto& entry : byName) {
      if (entry.second.size() == 1) continue;
      for (BlockArgument argument : entry.second)
        cast<func::FuncOp>(argument.getOwner()->getParentOp())
            .setArgAttr(argument.getArgNumber(), kPinnedAttr, UnitAttr::get(&getContext()));
    }
  }
};
}  // namespace
