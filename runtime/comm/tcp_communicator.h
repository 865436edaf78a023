// The communicator of ranks of several hosts: agreements and failures over the control channel. It has no window and
// moves no tensors: that is up to a device's own communicator, which uses it to find its peers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/comm/control_channel.h"

namespace sgd::comm {

class TcpCommunicator final : public Communicator {
 public:
  explicit TcpCommunicator(std::unique_ptr<ControlChannel> channel) : channel_(std::move(channel)) {}

  uint32_t rank() const override { return channel_->rank(); }
  uint32_t size() const override { return channel_->size(); }
  bool spans_hosts() const override { return true; }
  std::byte* window() override { return nullptr; }
  uint64_t window_bytes() const override { return 0; }
  // Unimplemented but for groups of one rank without bytes, which no program has.
  absl::StatusOr<CollectiveHandle> Prepare(const Mesh& mesh, const CollectiveSpec& spec) override;
  absl::Status Execute(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Start(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Wait(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Poll() override { return channel_->abort_cause(); }
  absl::Status Barrier(absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> GatherBytes(std::string_view bytes, absl::Duration timeout) override;
  void Abort(const absl::Status& cause) override { channel_->Abort(cause); }
  void Finish() override { channel_->Finish(); }
  uint64_t sent_bytes() const override { return 0; }

 private:
  std::unique_ptr<ControlChannel> channel_;
};

}  // namespace sgd::comm
