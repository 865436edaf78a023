// The programs of a pipeline's stages as runtime/comm/collectives/channel_proof.h executes them.
#ifndef SGD_PASSES_PLAN_CHANNELS_CHANNEL_EVENTS_H
#define SGD_PASSES_PLAN_CHANNELS_CHANNEL_EVENTS_H

#include <vector>

#include "passes/plan/channels/plan_channels.h"
#include "runtime/comm/collectives/channel_proof.h"

namespace mlir::sgd {

/// A program's channels, and what its stages do with them. The functions must outlive it.
struct ChannelEvents {
  std::vector<::sgd::comm::ChannelShape> channels;
  std::vector<::sgd::comm::StageEvents> stages;
};

/// Returns the events of the functions of program `name`, by stage. Fails for sends and receives that data decides.
FailureOr<ChannelEvents> getChannelEvents(StringRef name, ArrayRef<func::FuncOp> functions,
                                          std::vector<PlanChannel>& channels);

}  // namespace mlir::sgd

#endif
