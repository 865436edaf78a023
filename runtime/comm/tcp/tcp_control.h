// How ranks of several hosts agree and hear of failures: over the control channel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/comm/control/control.h"
#include "runtime/comm/tcp/control_channel.h"
#include "runtime/comm/tcp/tcp_agreements.h"

namespace sgd::comm {

class TcpControl final : public Control {
 public:
  explicit TcpControl(std::unique_ptr<ControlChannel> channel)
      : channel_(std::move(channel)), agreements_(*channel_, Lane::kSteps), beside_(*channel_, Lane::kBeside) {}

  uint32_t rank() const override { return channel_->rank(); }
  uint32_t size() const override { return channel_->size(); }
  bool spans_hosts() const override { return true; }
  absl::Status Barrier(absl::Duration timeout) override { return agreements_.Barrier(timeout); }
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) override {
    return agreements_.AllGatherBytes(bytes, timeout);
  }
  absl::StatusOr<std::vector<std::string>> GatherBytes(std::string_view bytes, absl::Duration timeout) override {
    return agreements_.GatherBytes(bytes, timeout);
  }
  Agreements& beside() override { return beside_; }
  absl::StatusOr<std::vector<Told>> GatherAmong(std::string_view key, std::string_view bytes,
                                                absl::Duration timeout) override;
  absl::Status Offer(std::string_view bytes, absl::Duration timeout) override {
    return channel_->Offer(bytes, timeout);
  }
  absl::StatusOr<std::string> OfferOf(uint32_t rank, absl::Duration timeout) override {
    return channel_->OfferOf(rank, timeout);
  }
  void NoteWait(WaitKind kind, const std::string& description, absl::Span<const uint32_t> awaited) override {
    channel_->NoteWait(kind, description, awaited);
  }
  void EndWait(WaitKind kind) override { channel_->EndWait(kind); }
  std::optional<Blame> BlameFor(const RankWait& own) override { return channel_->BlameFor(own); }
  bool Publish(Board board, std::string_view bytes) override { return channel_->Publish(board, bytes); }
  std::string PublishedBy(Board board, uint32_t rank) override { return channel_->PublishedBy(board, rank); }
  absl::Status Poll() override { return channel_->abort_cause(); }
  void Abort(const absl::Status& cause) override { channel_->Abort(cause); }
  void RequestStop(int signal) override { channel_->RequestStop(signal); }
  absl::StatusOr<bool> BeginStep(uint64_t step, absl::Duration timeout) override {
    return channel_->BeginStep(step, timeout);
  }
  int stop_signal() override { return channel_->stop_signal(); }
  void MarkStateKept() override { channel_->MarkStateKept(); }
  void Finish() override { channel_->Finish(); }

 private:
  std::unique_ptr<ControlChannel> channel_;
  TcpAgreements agreements_, beside_;
};

}  // namespace sgd::comm
