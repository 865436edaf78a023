// The programs of a pipeline's stages as runtime/comm/channel_proof.h executes them.
#ifndef SGD_PASSES_MEMORY_CHANNEL_EVENTS_H
#define SGD_PASSES_MEMORY_CHANNEL_EVENTS_H

#include <functional>
#include <vector>

#include "passes/memory/plan_channels.h"
#include "runtime/comm/channel_proof.h"

namespace mlir::sgd {

/// A program's channels, and what its stages do with them. The functions must outlive it.
struct ChannelEvents {
  std::vector<::sgd::comm::ChannelShape> channels;
  std::vector<::sgd::comm::StageEvents> stages;
};

/// What events take: an op that sends and receives nothing inside, sends and receives themselves included; and how long
/// the message of a stage's send is on its way beside it.
struct EventTimes {
  std::function<double(Operation*)> getSeconds;
  std::function<double(int64_t fromStage, plan::SendOp)> getTransferSeconds;
};

/// Of the functions of program `name`, by stage; without `times` nothing takes any. An error on what sends or receives
/// as data decides.
FailureOr<ChannelEvents> getChannelEvents(StringRef name, ArrayRef<func::FuncOp> functions,
                                          std::vector<PlanChannel>& channels, const EventTimes* times = nullptr);

}  // namespace mlir::sgd

#endif
