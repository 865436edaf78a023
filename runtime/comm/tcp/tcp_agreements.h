// Meetings of the ranks of several hosts, over the control channel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/comm/control/agreements.h"
#include "runtime/comm/tcp/control_channel.h"

namespace sgd::comm {

class TcpAgreements final : public Agreements {
 public:
  // Borrows the channel. Nobody else uses the lane.
  TcpAgreements(ControlChannel& channel, Lane lane) : channel_(channel), lane_(lane) {}

  uint32_t rank() const override { return channel_.rank(); }
  uint32_t size() const override { return channel_.size(); }
  bool spans_hosts() const override { return true; }
  absl::Status Barrier(absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> GatherBytes(std::string_view bytes, absl::Duration timeout) override;

 private:
  ControlChannel& channel_;
  const Lane lane_;
};

}  // namespace sgd::comm
