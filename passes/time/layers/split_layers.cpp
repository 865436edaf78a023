// The program that carries state decides about its ranges of layers; what others share with it is cut alike.
#include "passes/time/layers/split_layers.h"

#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/time/layers/split_function.h"
#include "passes/time/stages/shared_state.h"

using namespace mlir;
using namespace mlir::sgd;

static func::FuncOp getFunction(ModuleOp program) { return *program.getOps<func::FuncOp>().begin(); }

/// Arguments whose next value is a result; without a step all.
static llvm::DenseSet<Value> findState(func::FuncOp function) {
  llvm::DenseSet<Value> state;
  const bool isStep = carriesState(function);
  for (BlockArgument argument : function.getArguments())
    if (!isStep) state.insert(argument);
  for (unsigned result = 0; isStep && result < function.getNumResults(); ++result)
    if (std::optional<unsigned> argument = getCarriedArgument(function, result))
      state.insert(function.getArgument(*argument));
  return state;
}

/// Parameters that are first read behind a family are not on the stage of its last layers where that has no time for
/// them.
static void placeBehind(func::FuncOp function, ArrayRef<LayerFamily> families, ArrayRef<unsigned> stages,
                        const llvm::DenseSet<Value>& state) {
  Builder builder(function.getContext());
  Operation* last = families.back().loops.back().op;
  for (BlockArgument argument : function.getArguments()) {
    Operation* first = nullptr;
    for (Operation* user : argument.getUsers())
      if (!first || user->isBeforeInBlock(first)) first = user;
    if (!state.contains(argument) || !first || last->isBeforeInBlock(first)) continue;
    size_t place = 0;
    while (place < families.size() && families[place].loops.front().op->isBeforeInBlock(first)) ++place;
    const bool isApart =
        place > 0 && !llvm::is_contained(families[place - 1].state, argument) &&
        llvm::none_of(families[place - 1].ranges, [&](const RowRange& range) { return range.stage == stages[place]; });
    if (isApart) function.setArgAttr(argument.getArgNumber(), kStageAttr, builder.getI64IntegerAttr(stages[place]));
  }
}

/// Splits the state that `other` shares with the step, whose arguments `cut` were split.
static void splitLike(const SharedState& shared, const CutNumbers& cut, func::FuncOp other) {
  CutNumbers arguments, results;
  for (auto [from, to] : shared.arguments)
    if (auto ranges = cut.find(from); ranges != cut.end()) arguments[to] = ranges->second;
  for (auto [from, to] : shared.results)
    if (auto ranges = cut.find(to); ranges != cut.end()) results[from] = ranges->second;
  if (arguments.empty() && results.empty()) return;
  auto isShared = [&](BlockArgument argument) { return arguments.contains(argument.getArgNumber()); };
  std::vector<LayerFamily> families = findFamilies(other, isShared);
  for (LayerFamily& family : families) {
    BlockArgument state = family.state.front();
    int64_t rows = tensorType(state).getDimSize(0) / family.getNumLayers();
    family.ranges = divide(arguments.lookup(state.getArgNumber()), rows).value_or(RowRanges());
  }
  splitFunction(other, families, arguments, results, isShared);
}

void mlir::sgd::splitLayers(ArrayRef<ModuleOp> programs, unsigned numStages, const CostModel& cost) {
  const auto* found = llvm::find_if(programs, [](ModuleOp program) { return carriesState(getFunction(program)); });
  if (found == programs.end()) found = programs.begin();
  func::FuncOp step = getFunction(*found);
  llvm::DenseSet<Value> state = findState(step);
  auto isState = [&](BlockArgument argument) { return state.contains(argument); };
  std::vector<LayerFamily> families = findFamilies(step, isState);
  if (families.empty()) return;
  SmallVector<unsigned> around = chooseRanges(step, families, numStages, OpTimes(step, cost));
  if (!around.empty()) placeBehind(step, families, around, state);
  SmallVector<std::pair<func::FuncOp, SharedState>> others;  // before arguments are cut
  for (ModuleOp program : programs)
    if (program != *found) others.push_back({getFunction(program), findSharedState(step, getFunction(program))});
  CutNumbers cut = splitFunction(step, families, CutNumbers(), CutNumbers(), isState);
  for (const auto& [other, shared] : others) splitLike(shared, cut, other);
}
