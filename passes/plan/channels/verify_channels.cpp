// The pass sgd-verify-channels: the proof of runtime/comm/collectives/channel_proof.h over a plan.
#include "dialects/sgd/stages.h"
#include "passes/plan/channels/channel_events.h"
#include "passes/plan/channels/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_VERIFYCHANNELSPASS
#include "passes/plan/channels/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct VerifyChannelsPass : mlir::sgd::impl::VerifyChannelsPassBase<VerifyChannelsPass> {
  void runOnOperation() final {
    FailureOr<std::vector<PlanChannel>> channels = getPlanChannels(getOperation());
    if (failed(channels)) return signalPassFailure();
    if (getActiveStageAxis(getMesh(getOperation())))
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (!function.isPrivate() && !getStage(function)) {
          function.emitError() << "program '" << function.getName() << "' has no stages on a mesh of stages; expected '"
                               << kStageAttr << "' on a function for each";
          return signalPassFailure();
        }
    for (auto& [name, functions] : getStagePrograms(getOperation()))
      if (failed(checkStages(name, functions)) || failed(prove(name, functions, *channels))) return signalPassFailure();
  }

  /// Stages 0, 1, ... of the mesh, each once.
  LogicalResult checkStages(StringRef name, MutableArrayRef<func::FuncOp> functions) {
    MeshAxisAttr axis = getActiveStageAxis(getMesh(getOperation()));
    if (!axis)
      return functions.front().emitError()
             << "program '" << name << "' has stages, and the mesh has no stage axis in front; expected '"
             << kStagesAttr << "' on it";
    for (auto [stage, function] : llvm::enumerate(functions))
      if (*getStage(function) != static_cast<int64_t>(stage))
        return function.emitError() << "program '" << name << "' has stage " << *getStage(function) << " where stage "
                                    << stage << " is expected; each stage has one function";
    if (static_cast<int64_t>(functions.size()) == axis.getSize()) return success();
    return functions.front().emitError() << "program '" << name << "' has functions for " << functions.size()
                                         << " stages; expected one for each of " << axis.getSize();
  }

  LogicalResult prove(StringRef name, MutableArrayRef<func::FuncOp> functions, std::vector<PlanChannel>& channels) {
    FailureOr<ChannelEvents> events = getChannelEvents(name, functions, channels);
    if (failed(events)) return failure();
    absl::Status status = ::sgd::comm::ProveChannels(events->channels, events->stages);
    if (status.ok()) return success();
    return functions.front().emitError() << "program '" << name << "': " << std::string(status.message());
  }
};

}  // namespace
