// The cause of an idle stage: parameters for fewer stages, or one loop around the forward and the backward pass.
#include "passes/time/stages/idle_stage.h"

#include "dialects/sgd/sequential.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::accumulatesGradients(WhileOp loop) {
  llvm::DenseSet<Type> read, returned;
  for (BlockArgument argument : loop.getBody().getArguments()) {
    RankedTensorType type = tensorType(argument);
    if (type.getRank() == 0 || !isa<FloatType>(type.getElementType())) continue;
    (loop.isInvariant(argument.getArgNumber()) ? read : returned).insert(type);
  }
  return llvm::any_of(returned, [&](Type type) { return read.contains(type); });
}

/// Finds the loop of the source that accumulates gradients and takes more than half of the time.
static WhileOp findAccumulation(const ProgramFlow& flow, const OpTimes& times) {
  constexpr double kMost = 0.5;
  double all = 0, most = 0;
  WhileOp largest;
  for (Operation& op : flow.getOps()) {
    double seconds = times.get(&op);
    all += seconds;
    auto loop = dyn_cast<WhileOp>(op);
    if (!loop || flow.getLoops().get(loop).isInLoop || seconds <= most) continue;
    largest = loop;
    most = seconds;
  }
  return largest && most > kMost * all && accumulatesGradients(largest) ? largest : WhileOp();
}

/// Whether most of the time is outside of the loops over parts of the batch.
static bool isMostlyWhole(const ProgramFlow& flow, const OpTimes& times) {
  constexpr double kMost = 0.5;
  func::FuncOp function = flow.getFunction();
  if (!getActiveSequentialAxis(getMesh(function->getParentOfType<ModuleOp>()))) return false;
  double all = 0, whole = 0;
  for (Operation& op : flow.getOps()) {
    all += times.get(&op);
    if (!flow.getLoops().get(&op).isInLoop) whole += times.get(&op);
  }
  return whole > kMost * all;
}

StringRef mlir::sgd::getVirtualStageNoun(const PipelineForm& form) { return form.numChunks > 1 ? "chunk" : "stage"; }

bool mlir::sgd::usesAllStages(const ProgramFlow& flow) {
  if (flow.getLoops().getNumLoops() > 0) return true;
  func::FuncOp function = flow.getFunction();
  return !getActiveSequentialAxis(getMesh(function->getParentOfType<ModuleOp>())) && carriesState(function);
}

InFlightDiagnostic mlir::sgd::emitIdleStage(const ProgramFlow& flow, const OpTimes& times, unsigned index,
                                            const PipelineForm& form) {
  StringRef noun = getVirtualStageNoun(form);
  WhileOp loop = findAccumulation(flow, times);
  InFlightDiagnostic error = loop ? loop.emitError() : flow.getFunction().emitError();
  error << noun << " " << index << " of " << form.getNumVirtualStages() << " has nothing to compute";
  if (!loop && isMostlyWhole(flow, times))
    return std::move(error) << " in the loop over micro-batches: most of the step is computed for the whole batch, "
                               "since ops read rows of several micro-batches; expected layers that compute each row by "
                               "itself; find these ops by sgdc --micro-refuse, or leave 'sequential' out";
  if (!loop)
    return std::move(error) << "; expected parameters for each " << noun << "; ask for fewer " << noun
                            << "s, or say in the recipe which parameters each has";
  std::string trips = loop.getTrips() ? std::to_string(*loop.getTrips()) : "N";
  return std::move(error) << ": the whole forward and backward pass is in one loop of " << trips
                          << " trips; expected a step without it; write the step for the whole batch, and let "
                             "\"sequential\": {\"micro\": "
                          << trips << "} accumulate gradients";
}
