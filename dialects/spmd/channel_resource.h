// The memory resource of sends and receives: the channels between the stages of a pipeline.
#ifndef SGD_DIALECTS_SPMD_CHANNEL_RESOURCE_H
#define SGD_DIALECTS_SPMD_CHANNEL_RESOURCE_H

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::spmd {

/// A channel holds at most so many messages (as comm::kMaxChannelDepth).
inline constexpr int64_t kMaxChannelDepth = 1024;

/// All channels: their order among each other is part of a program.
struct ChannelResource : SideEffects::Resource::Base<ChannelResource> {
  StringRef getName() final { return "channels"; }
};

}  // namespace mlir::spmd

#endif
