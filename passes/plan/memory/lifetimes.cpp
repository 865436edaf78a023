// Lifetimes read off a straight line of instructions.
#include "passes/plan/memory/lifetimes.h"

#include "dialects/plan/host_copy.h"

using namespace mlir;
using namespace mlir::sgd;

/// For each operand of `op` whether it writes all of that buffer without reading it through this or another operand.
static SmallVector<bool> getOverwritten(Operation* op, const SymbolTable& kernels) {
  SmallVector<bool> overwritten(op->getNumOperands());
  auto instruction = dyn_cast<plan::InstructionOpInterface>(op);
  if (!instruction) return overwritten;
  SmallVector<plan::BufferAccess> accesses = plan::getAccesses(instruction, kernels);
  llvm::SmallDenseSet<Value> read;
  for (auto [operand, access] : llvm::zip(op->getOperands(), accesses))
    if (access.reads) read.insert(plan::getRoot(operand).root);
  for (auto [index, access] : llvm::enumerate(accesses))
    overwritten[index] = access.isWhole && !read.contains(plan::getRoot(op->getOperand(index)).root);
  return overwritten;
}

/// The instruction whose operands `op` uses: for the end of an instruction in flight, that instruction.
static Operation* getUser(Operation* op) {
  if (auto done = dyn_cast<plan::DoneOp>(op)) return done.getCollective();
  if (auto copied = dyn_cast<plan::HostCopiedOp>(op)) return copied.getCopy();
  return op;
}

BufferUses::BufferUses(func::FuncOp function, const SymbolTable& kernels) {
  std::optional<int64_t> group;  // of the instruction before
  for (Operation& op : function.front()) {
    if (!isa<plan::InstructionOpInterface>(op) && !op.hasTrait<OpTrait::IsTerminator>()) continue;
    auto launch = dyn_cast<plan::LaunchOp>(op);
    std::optional<int64_t> own = launch ? launch.getGroup() : std::nullopt;
    if (!own || own != group) ++end;
    group = own;
    int64_t position = end - 1;
    positions[&op] = position;
    Operation* user = getUser(&op);
    SmallVector<bool> overwritten = getOverwritten(&op, kernels);
    for (auto [index, operand] : llvm::enumerate(user->getOperands())) {
      Value root = plan::getRoot(operand).root;
      bool isWhole = getByteSize(cast<MemRefType>(operand.getType())) == getByteSize(cast<MemRefType>(root.getType()));
      SmallVector<Access, 4>& list = accesses[root];
      if (list.empty() || list.back().op != &op)
        list.push_back({position, &op, user == &op && isWhole && overwritten[index]});
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
