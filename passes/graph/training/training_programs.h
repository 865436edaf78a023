// Programs that train a forward model: init, train and eval.
#ifndef SGD_PASSES_GRAPH_TRAINING_TRAINING_PROGRAMS_H
#define SGD_PASSES_GRAPH_TRAINING_TRAINING_PROGRAMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/training/training_settings.h"

namespace mlir::sgd {

/// Names of the programs, and of the state that training adds to a model's.
inline constexpr llvm::StringLiteral kInitProgram = "init", kTrainProgram = "train", kEvalProgram = "eval";
inline constexpr llvm::StringLiteral kStepName = "step", kSlotPrefix = "optimizer/", kAverageSlot = "ema";
inline constexpr llvm::StringLiteral kLossScaleName = "loss_scale";

/// Replaces the program `forward`, whose function computes a loss from parameters and inputs, by the programs `init`,
/// `train` and `eval`, each a module with the mesh of `forward`.
///
///   train(model's arguments, optimizer/SLOT/NAME.., step) -> (loss, other scalars, new buffers, new parameters, new
///         slots, step)
///   eval(model's arguments) -> the model's results without next values of its own state
///   init() -> (arguments that have an initializer, optimizer/SLOT/NAME.., step)
///
/// Fails with a diagnostic if the loss is missing or ambiguous, if no argument is a parameter, or at an op without a
/// derivative.
LogicalResult makeTrainingPrograms(ModuleOp forward, const TrainingSettings& settings);

/// Takes the values of one mode where a frontend gives those of training and evaluation (kByModeAttr). An evaluation
/// that then draws no random numbers has no argument for their generator.
void resolveModes(func::FuncOp function, bool trains);

/// Removes the attributes of ops that compute statistics of a batch norm (kBatchStatisticsAttr).
void dropStatisticsMarks(func::FuncOp function);

}  // namespace mlir::sgd

#endif
