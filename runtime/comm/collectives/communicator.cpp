// Communicators without channels refuse them.
#include "runtime/comm/collectives/communicator.h"

namespace sgd::comm {
namespace {

absl::Status NoChannels() {
  return absl::UnimplementedError(
      "stages of a pipeline send each other messages through the memory of one host's CPUs, and these ranks have none "
      "in common; compile without stages, or for GPUs");
}

}  // namespace

absl::Status Communicator::UseStages(const StageLinks&, absl::Duration) { return NoChannels(); }
absl::StatusOr<ChannelHandle> Communicator::PrepareChannel(const ChannelSpec&) { return NoChannels(); }
absl::Status Communicator::Send(ChannelHandle, const std::byte*, absl::Duration) { return NoChannels(); }
absl::Status Communicator::Receive(ChannelHandle, std::byte*, absl::Duration) { return NoChannels(); }

absl::StatusOr<SideMessages> Communicator::ReserveSideMessages(uint32_t, uint64_t, uint32_t, uint64_t) {
  return absl::UnimplementedError("ranks that talk through their devices exchange no bytes of the host's memory");
}

absl::Status Communicator::StartSideMessages(std::function<bool()>) {
  return absl::FailedPreconditionError("messages beside steps without memory for them");
}

absl::Status Communicator::FinishSideMessages(absl::Duration) { return absl::OkStatus(); }

absl::Status Communicator::Exchange(const BulkMessages& messages, absl::Duration) {
  if (messages.sends.empty() && messages.receives.empty()) return absl::OkStatus();
  return absl::UnimplementedError("ranks that talk through their devices exchange no bytes of the host's memory");
}

}  // namespace sgd::comm
