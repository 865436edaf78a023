// Clones the forward function for each program.
#include "passes/graph/training/training_programs.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_names.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/training/eval_rows.h"
#include "passes/graph/training/init_program.h"
#include "passes/graph/training/model.h"
#include "passes/graph/training/precision.h"
#include "passes/graph/training/train_program.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

func::FuncOp getFunction(ModuleOp program) { return *program.getOps<func::FuncOp>().begin(); }

/// Makes an evaluation read the moving averages that training keeps, where it keeps one.
void readAverages(func::FuncOp evaluation, func::FuncOp train) {
  llvm::StringSet<> slots;
  for (unsigned argument = 0; argument < train.getNumArguments(); ++argument)
    slots.insert(getInputName(train, argument));
  for (unsigned argument = 0; argument < evaluation.getNumArguments(); ++argument) {
    std::string average = (kSlotPrefix + kAverageSlot + "/" + getInputName(evaluation, argument)).str();
    if (!slots.contains(average)) continue;
    evaluation.setArgAttr(argument, kNameAttr, StringAttr::get(evaluation.getContext(), average));
    evaluation.setArgAttr(argument, kRoleAttr, RoleAttr::get(evaluation.getContext(), Role::OptimizerState));
    evaluation.removeArgAttr(argument, kAliasesAttr);
  }
}

/// An evaluation leaves the model's state as it is.
void dropNextState(func::FuncOp function) {
  llvm::BitVector dropped(function.getNumResults());
  for (unsigned result = 0; result < dropped.size(); ++result)
    if (getCarriedArgument(function, result)) dropped.set(result);
  function.getBody().front().getTerminator()->eraseOperands(dropped);
  (void)function.eraseResults(dropped);
}

}  // namespace

/// Erases what nothing reads, and the argument of a generator that no longer draws.
static void eraseUnread(func::FuncOp function) {
  Block& block = function.getBody().front();
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) op.erase();
  llvm::BitVector unread(function.getNumArguments());
  for (BlockArgument argument : block.getArguments())
    if (argument.use_empty() && getRole(function, argument.getArgNumber()) == Role::Generator)
      unread.set(argument.getArgNumber());
  (void)function.eraseArguments(unread);
}

void mlir::sgd::dropStatisticsMarks(func::FuncOp function) {
  function.walk([](Operation* op) { op->removeAttr(kBatchStatisticsAttr); });
}

void mlir::sgd::resolveModes(func::FuncOp function, bool trains) {
  if (!function->removeAttr(kByModeAttr)) return;
  function.walk([&](arith::SelectOp select) {
    if (!select->hasAttr(kByModeAttr)) return;
    select.replaceAllUsesWith(trains ? select.getTrueValue() : select.getFalseValue());
    select.erase();
  });
}

LogicalResult mlir::sgd::makeTrainingPrograms(ModuleOp forward, const TrainingSettings& settings) {
  FailureOr<Model> model = readModel(getFunction(forward), settings);
  if (failed(model)) return failure();
  if (auto layer = getFunction(forward)->getAttrOfType<StringAttr>(kEvaluatesAttr))
    emitWarning(getFunction(forward).getLoc())
        << "the model was exported in eval() mode (the first such layer: " << layer.getValue()
        << "), so training drops nothing out and leaves running statistics as they are; call train() on the module "
           "before torch.export.export if that is not meant";
  OpBuilder builder(forward);
  auto clone = [&](StringRef name) {
    auto program = cast<ModuleOp>(builder.clone(*forward));
    program.setSymName(name);
    getFunction(program).setSymName(name);
    getFunction(program)->setAttr(kCarryIsKnownAttr, builder.getUnitAttr());
    return program;
  };
  ModuleOp init = clone(kInitProgram), train = clone(kTrainProgram), eval = clone(kEvalProgram);
  resolveModes(getFunction(train), /*trains=*/true);
  resolveModes(getFunction(eval), /*trains=*/false);
  for (ModuleOp program : {train, eval})
    for (unsigned parameter : model->parameters)
      getFunction(program).setArgAttr(parameter, kRoleAttr, RoleAttr::get(builder.getContext(), Role::Parameter));
  if (settings.groupStatistics && failed(settings.groupStatistics(getFunction(train)))) return failure();
  for (ModuleOp program : {train, eval}) dropStatisticsMarks(getFunction(program));
  if (settings.precision.compute) {
    narrowCompute(getFunction(train), *settings.precision.compute, settings.staysWide);
    narrowCompute(getFunction(eval), *settings.precision.compute, settings.staysWide);
  }
  FailureOr<SmallVector<ParameterStack>> stacks = writeTrain(getFunction(train), *model, settings);
  if (failed(stacks)) return failure();
  func::FuncOp evaluation = getFunction(eval);
  setResultRole(evaluation, model->loss, Role::Loss);
  dropNextState(evaluation);
  eraseUnread(evaluation);
  countRows(evaluation);
  if (settings.average) readAverages(evaluation, getFunction(train));
  for (const ParameterStack& stack : *stacks) addStackedParameters(evaluation, stack, settings.matrixRanks);
  eraseParameters(evaluation, *stacks);
  if (failed(writeInit(getFunction(init), getFunction(train)))) return failure();
  forward.erase();
  return success();
}
