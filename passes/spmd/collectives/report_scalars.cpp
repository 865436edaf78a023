// The pass sgd-report-scalars.
#include "dialects/sgd/stages.h"
#include "dialects/spmd/spmd_dialect.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/spmd/collectives/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_REPORTSCALARSPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

std::optional<int64_t> getPosition(func::FuncOp function, unsigned result) {
  auto position = function.getResultAttrOfType<IntegerAttr>(result, kPositionAttr);
  return position ? std::optional(position.getInt()) : std::nullopt;
}

/// The functions of one program by stage.
class Reporter {
 public:
  explicit Reporter(MutableArrayRef<func::FuncOp> stages) : stages(stages) {}

  void run() {
    for (unsigned result = 0; result < stages.front().getNumResults(); ++result)
      if (auto position = getPosition(stages.front(), result)) isReported.insert(*position);
    for (func::FuncOp function : stages)
      function.walk([&](Operation* op) {
        if (auto send = dyn_cast<spmd::SendOp>(op))
          nextChannel = std::max<int64_t>(nextChannel, send.getChannel() + 1);
        else if (auto receive = dyn_cast<spmd::ReceiveOp>(op))
          nextChannel = std::max<int64_t>(nextChannel, receive.getChannel() + 1);
      });
    for (func::FuncOp function : stages.drop_front())
      for (unsigned result = 0; result < function.getNumResults(); ++result) report(function, result);
  }

 private:
  void report(func::FuncOp function, unsigned result) {
    auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[result]);
    std::optional<int64_t> position = getPosition(function, result);
    if (!type || type.getRank() != 0 || !position || getCarriedArgument(function, result)) return;
    if (!isReported.insert(*position).second) return;
    func::FuncOp first = stages.front();
    Operation *ret = function.front().getTerminator(), *target = first.front().getTerminator();
    OpBuilder builder(ret);
    spmd::SendOp::create(builder, ret->getLoc(), ret->getOperand(result), *getStage(first), nextChannel);
    builder.setInsertionPoint(target);
    Value value = spmd::ReceiveOp::create(builder, ret->getLoc(), type, nextChannel, *getStage(function));
    ++nextChannel;
    target->insertOperands(target->getNumOperands(), value);
    (void)first.insertResult(first.getNumResults(), type, function.getResultAttrDict(result));
  }

  MutableArrayRef<func::FuncOp> stages;
  llvm::DenseSet<int64_t> isReported;  // positions
  int64_t nextChannel = 0;
};

struct ReportScalarsPass : mlir::sgd::impl::ReportScalarsPassBase<ReportScalarsPass> {
  void runOnOperation() final {
    for (auto& [_, stages] : getStagePrograms(getOperation())) Reporter(stages).run();
  }
};

}  // namespace
