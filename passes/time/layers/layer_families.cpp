// Loops are of one family that read rows of the same value, or of values computed from such row by row.
#include "passes/time/layers/layer_families.h"

#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class FamilySearch {
 public:
  FamilySearch(func::FuncOp function, llvm::function_ref<bool(BlockArgument)> isState) : function(function) {
    for (BlockArgument argument : function.getArguments())
      if (tensorType(argument).getRank() > 0 && isState(argument)) kinds[argument] = add();
  }

  std::vector<LayerFamily> run() {
    for (Operation& op : function.front().without_terminator())
      if (auto loop = dyn_cast<WhileOp>(op))
        addLoop(loop);
      else
        follow(&op);
    return collect();
  }

 private:
  unsigned add() {
    parents.push_back(parents.size());
    return parents.size() - 1;
  }
  unsigned find(unsigned kind) const {
    while (parents[kind] != kind) kind = parents[kind];
    return kind;
  }
  void join(unsigned a, unsigned b) { parents[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

  void addLoop(WhileOp op);
  void follow(Operation* op);
  std::vector<LayerFamily> collect();

  func::FuncOp function;
  DenseMap<Value, unsigned> kinds;  // of stacked values
  SmallVector<unsigned> parents;
  std::vector<std::pair<LayerLoop, unsigned>> loops;
};

}  // namespace

void FamilySearch::addLoop(WhileOp op) {
  if (llvm::none_of(op.getInits(), [&](Value init) { return kinds.contains(init); })) return;
  std::optional<LayerLoop> layers = LayerLoop::find(op);
  if (!layers) return;
  std::optional<unsigned> kind;
  for (auto [iterArg, init] : llvm::enumerate(op.getInits())) {
    if (!layers->isStacked(iterArg) || !kinds.contains(init)) continue;
    if (kind) join(*kind, kinds.lookup(init));
    if (layers->roles[iterArg] == LayerLoop::Role::Read || kind) kind = kinds.lookup(init);
  }
  if (!kind) return;
  for (unsigned iterArg = 0; iterArg < layers->roles.size(); ++iterArg)
    if (layers->isStacked(iterArg)) kinds[op.getResult(iterArg)] = *kind;
  loops.push_back({std::move(*layers), *kind});
}

void FamilySearch::follow(Operation* op) {
  if (isa<OptimizationBarrierOp>(op)) {
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults()))
      if (auto kind = kinds.find(operand); kind != kinds.end()) kinds[result] = unsigned{kind->second};
    return;
  }
  for (OpOperand& operand : op->getOpOperands()) {
    auto kind = kinds.find(operand.get());
    if (kind == kinds.end()) continue;
    std::optional<FactorDims> dims = findFactor(op, operand.getOperandNumber(), 0);
    if (!dims || dims->result.index != 0) continue;
    unsigned own = kind->second;
    for (auto [other, dim] : llvm::zip(op->getOperands(), dims->operands))
      if (auto of = kinds.find(other); dim.index == 0 && of != kinds.end()) join(own, of->second);
    kinds[op->getResult(0)] = own;
    return;
  }
}

std::vector<LayerFamily> FamilySearch::collect() {
  std::vector<LayerFamily> families;
  DenseMap<unsigned, size_t> numbers;
  for (auto& [layers, kind] : loops) {
    auto [number, isNew] = numbers.try_emplace(find(kind), families.size());
    if (isNew) families.emplace_back();
    families[number->second].loops.push_back(std::move(layers));
  }
  for (BlockArgument argument : function.getArguments())
    if (auto kind = kinds.find(argument); kind != kinds.end())
      if (auto number = numbers.find(find(kind->second)); number != numbers.end())
        families[number->second].state.push_back(argument);
  return families;
}

std::vector<LayerFamily> mlir::sgd::findFamilies(func::FuncOp function,
                                                 llvm::function_ref<bool(BlockArgument)> isState) {
  return FamilySearch(function, isState).run();
}
