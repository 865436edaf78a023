// Lifetimes read off a straight line of instructions.
#include "passes/memory/lifetimes.h"

using namespace mlir;
using namespace mlir::sgd;

/// True when `op` writes all of `buffer` without reading it.
static bool overwritesAll(Operation* op, Value buffer, const SymbolTable& kernels) {
  auto isOnlyTarget = [&](ValueRange targets, ValueRange sources) {
    Value root = plan::getRoot(buffer).root;
    return llvm::is_contained(targets, buffer) &&
           llvm::none_of(sources, [&](Value source) { return plan::getRoot(source).root == root; });
  };
  if (auto branches = dyn_cast<plan::CaseOp>(op)) return isOnlyTarget(branches.getOutputs(), branches.getInputs());
  if (auto fill = dyn_cast<plan::FillOp>(op)) return fill.getTarget() == buffer;
  if (auto copy = dyn_cast<plan::CopyOp>(op)) return isOnlyTarget(copy.getTarget(), copy.getSource());
  if (auto collective = dyn_cast<plan::CollectiveOp>(op))
    return isOnlyTarget(collective.getTargets(), collective.getSources());
  if (auto matmul = dyn_cast<plan::MatmulOp>(op))
    return matmul.getEpilogue() != plan::Epilogue::Accumulate &&
           (buffer == matmul.getSums() || isOnlyTarget(matmul.getC(), {matmul.getA(), matmul.getB()}));
  if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
    auto kernel = kernels.lookup<plan::KernelOp>(launch.getKernel());
    for (auto [index, output] : llvm::enumerate(launch.getOutputs()))
      if (output == buffer && kernel && !kernel.getInPlaceOperand(index))
        return isOnlyTarget(buffer, launch.getInputs());
  }
  return false;
}

BufferUses::BufferUses(func::FuncOp function, const SymbolTable& kernels) {
  std::optional<int64_t> group;  // of the instruction before
  for (Operation& op : function.front()) {
    if (isa<plan::AllocOp, plan::ConstantOp, plan::ViewOp>(op)) continue;
    auto launch = dyn_cast<plan::LaunchOp>(op);
    std::optional<int64_t> own = launch ? launch.getGroup() : std::nullopt;
    if (!own || own != group) ++end;
    group = own;
    int64_t position = end - 1;
    positions[&op] = position;
    // A collective under way uses its buffers until it is done.
    auto done = dyn_cast<plan::DoneOp>(op);
    for (Value operand : done ? done.getCollective()->getOperands() : op.getOperands()) {
      Value root = plan::getRoot(operand).root;
      bool isWhole =
          plan::getByteSize(cast<MemRefType>(operand.getType())) == plan::getByteSize(cast<MemRefType>(root.getType()));
      SmallVector<Access, 4>& list = accesses[root];
      if (list.empty() || list.back().op != &op)
        list.push_back({position, &op, !done && isWhole && overwritesAll(&op, operand, kernels)});
    }
  }
  --end;
}

ArrayRef<Access> BufferUses::getAccesses(Value root) const {
  auto it = accesses.find(root);
  return it == accesses.end() ? ArrayRef<Access>() : ArrayRef<Access>(it->second);
}

int64_t BufferUses::getLastUse(Value root) const {
  ArrayRef<Access> list = getAccesses(root);
  return list.empty() ? -1 : list.back().position;
}

std::vector<memory::Lifetime> BufferUses::getLifetimes(Value root) const {
  ArrayRef<Access> list = getAccesses(root);
  std::vector<memory::Lifetime> lifetimes;
  bool isArgument = isa<BlockArgument>(root);
  if (isArgument) lifetimes.push_back({-1, -1});
  for (const Access& access : list) {
    if (lifetimes.empty() || access.overwrites) lifetimes.push_back({access.position, access.position});
    lifetimes.back().last = access.position;
  }
  bool isReturned = !list.empty() && list.back().position == end;
  if (isArgument && !isReturned) return {{-1, end}};
  if (lifetimes.empty()) lifetimes.push_back({end, end});
  return lifetimes;
}
