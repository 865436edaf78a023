// Shares of the time of a step; the loop of the source that cannot be cut is named.
#include "passes/time/stages/check_balance.h"

#include <cmath>
#include <numeric>

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/time/stages/idle_stage.h"

using namespace mlir;
using namespace mlir::sgd;

/// A stage, or a loop on it, is too large if it takes more than this multiple of the average stage.
static constexpr double kMostShares = 1.8;

/// Of the time, that a loop takes which accumulates gradients of a whole step. The backward pass of a recurrent layer
/// adds up gradients in a loop too, but takes less.
static constexpr double kBothPasses = 0.85;

namespace {
class BalanceCheck {
 public:
  BalanceCheck(const PipelinePlan& plan, const OpTimes& times)
      : flow(plan.getFlow()), plan(plan), times(times), numStages(plan.getForm().numStages) {}

  LogicalResult run();

 private:
  bool isDivided(Operation* op) const;
  WhileOp findLargestLoop(std::optional<unsigned> stage) const;
  double getShare(WhileOp loop) const;
  LogicalResult checkLoops(double mostShares);
  void warnOfImbalance();
  BlockArgument findLargestParameter(unsigned stage) const;
  SmallVector<BlockArgument> getWholeParameters(WhileOp loop) const;
  void explainLoop(InFlightDiagnostic& message, WhileOp loop) const;
  StringRef getName(BlockArgument argument) const;

  const ProgramFlow& flow;
  const PipelinePlan& plan;
  const OpTimes& times;
  unsigned numStages;
};
}  // namespace

/// Whether `op` is of what stages divide: of a loop over parts, or of a step that is one part.
bool BalanceCheck::isDivided(Operation* op) const {
  return flow.getLoops().getNumLoops() > 0 ? flow.getLoops().get(op).isInLoop : flow.isInGraph(op);
}

StringRef BalanceCheck::getName(BlockArgument argument) const {
  func::FuncOp function = flow.getFunction();
  auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
  return name ? name.getValue() : StringRef();
}

/// Finds the loop of the source that takes the most time, of all stages or of one.
WhileOp BalanceCheck::findLargestLoop(std::optional<unsigned> stage) const {
  WhileOp largest;
  for (Operation& op : flow.getOps()) {
    auto loop = dyn_cast<WhileOp>(op);
    if (!loop || !isDivided(loop)) continue;
    if (stage && !toStages(plan.getForm(), plan.getPlacement().get(&op)).test(*stage)) continue;
    if (!largest || times.get(loop) > times.get(largest)) largest = loop;
  }
  return largest;
}

/// Of the time of all stages.
double BalanceCheck::getShare(WhileOp loop) const {
  double all = 0;
  for (Operation& op : flow.getOps())
    if (isDivided(&op)) all += times.get(&op);
  return times.get(loop) / all;
}

/// Parameters that each iteration of `loop` reads whole, largest first; none if it reads rows of some, as a loop over
/// layers does.
SmallVector<BlockArgument> BalanceCheck::getWholeParameters(WhileOp loop) const {
  llvm::SmallSetVector<BlockArgument, 4> whole;
  for (auto [index, operand] : llvm::enumerate(loop->getOperands())) {
    if (flow.isShared(operand) || flow.getSources(operand).empty() || !loop.isInvariant(index)) continue;
    if (llvm::any_of(loop.getBody().getArgument(index).getUsers(), llvm::IsaPred<DynamicSliceOp>)) return {};
    whole.insert_range(flow.getSources(operand));
  }
  SmallVector<BlockArgument> parameters = whole.takeVector();
  llvm::sort(parameters, [](BlockArgument a, BlockArgument b) {
    return std::pair(-getByteSize(a.getType()), a.getArgNumber()) <
           std::pair(-getByteSize(b.getType()), b.getArgNumber());
  });
  return parameters;
}

/// Says why `loop` is not cut, and what to do.
void BalanceCheck::explainLoop(InFlightDiagnostic& message, WhileOp loop) const {
  if (getShare(loop) > kBothPasses && accumulatesGradients(loop)) {
    message << "; it holds the forward and the backward pass; write the step for the whole batch, and let "
               "\"sequential\" accumulate gradients";
    return;
  }
  SmallVector<BlockArgument> whole = getWholeParameters(loop);
  if (whole.empty()) {
    message << "; expected layers that can be on stages of their own; compile with --unroll, and with parameters of "
               "their own for each layer, or ask for fewer stages";
    return;
  }
  message << ": each iteration reads ";
  StringRef name = getName(whole.front());
  if (name.empty())
    message << whole.size() << (whole.size() == 1 ? " parameter" : " parameters");
  else if (message << name; whole.size() > 1)
    message << " and " << whole.size() - 1 << (whole.size() == 2 ? " other parameter" : " other parameters");
  message << "; expected a loop for each layer; write one, or compile with --unroll, or ask for fewer stages";
}

/// A loop of the source is on one stage, and one that takes most of the time leaves nothing for others.
LogicalResult BalanceCheck::checkLoops(double mostShares) {
  WhileOp largest = findLargestLoop(std::nullopt);
  double share = largest ? getShare(largest) : 0;
  if (share * numStages <= mostShares) return success();
  InFlightDiagnostic error = largest.emitError();
  error << "a loop that takes " << std::lround(100 * share) << " % of the time is on one of " << numStages << " stages";
  explainLoop(error, largest);
  return error;
}

BlockArgument BalanceCheck::findLargestParameter(unsigned stage) const {
  BlockArgument largest;
  for (BlockArgument parameter : flow.getParameters())
    if (plan.getHaving(parameter).test(stage) &&
        (!largest || getByteSize(parameter.getType()) > getByteSize(largest.getType())))
      largest = parameter;
  return largest;
}

/// Warns of a stage that leaves little for others: a parameter of several layers, or a loop over them, is on one of
/// them.
void BalanceCheck::warnOfImbalance() {
  ArrayRef<double> busy = plan.getTimes().busy;
  const double* most = llvm::max_element(busy);
  double share = *most / std::accumulate(busy.begin(), busy.end(), 0.0);
  if (share * numStages <= kMostShares) return;
  auto stage = static_cast<unsigned>(most - busy.begin());
  WhileOp loop = findLargestLoop(stage);
  const bool isOfLoop = loop && getShare(loop) > share / 4;
  InFlightDiagnostic warning = isOfLoop ? loop.emitWarning() : flow.getFunction().emitWarning();
  warning << "stage " << stage << " of " << numStages << " takes " << std::lround(100 * share) << " % of the time";
  if (isOfLoop) {
    warning << ", a loop " << std::lround(100 * getShare(loop)) << " %";
    return explainLoop(warning, loop);
  }
  if (BlockArgument largest = findLargestParameter(stage); largest && !getName(largest).empty())
    warning << "; its largest parameter is " << getName(largest);
  warning << "; layers that share a parameter are on one stage: give them parameters of their own";
}

LogicalResult BalanceCheck::run() {
  const bool hasLoops = flow.getLoops().getNumLoops() > 0;
  if (!usesAllStages(flow)) return success();
  StageSet busy(plan.getForm().getNumVirtualStages());
  for (Operation& op : flow.getOps())
    if (isDivided(&op) && !plan.getPlacement().isEverywhere(&op)) busy |= plan.getPlacement().get(&op);
  constexpr double kSomeShares = 0.5;
  const bool isChecked = hasLoops || !busy.all();
  if (isChecked && failed(checkLoops(busy.all() ? kMostShares : kSomeShares))) return failure();
  if (!busy.all()) return emitIdleStage(flow, times, busy.find_first_unset(), plan.getForm());
  if (hasLoops) warnOfImbalance();
  return success();
}

LogicalResult mlir::sgd::checkBalance(const PipelinePlan& plan, const OpTimes& times) {
  return BalanceCheck(plan, times).run();
}
