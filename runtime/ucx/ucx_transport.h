// Messages between hosts by UCX: InfiniBand, RoCE and TCP behind one interface. Tagged messages, since a receiver names
// the memory that they go to; options are set in the configuration, where the user's environment has none.
#pragma once

#include <ucp/api/ucp.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/hosts/transport.h"

namespace sgd::ucx {

class UcxTransport final : public comm::Transport {
 public:
  static absl::StatusOr<std::unique_ptr<UcxTransport>> Open(const comm::TransportOptions& options);
  // Closes connections by force: what is in flight is dropped.
  ~UcxTransport() override;

  std::string version() const override;
  std::string devices() const override;
  std::string address() const override { return address_; }
  absl::Status Register(std::byte* memory, uint64_t bytes) override;
  absl::Status Connect(uint32_t peer, std::string_view address) override;
  void Send(uint32_t peer, uint64_t tag, const std::byte* data, uint64_t bytes, comm::Completion& completion) override;
  void Receive(uint64_t tag, std::byte* data, uint64_t bytes, comm::Completion& completion) override;
  bool Progress() override { return ucp_worker_progress(worker_) != 0; }
  bool Arm() override { return ucp_worker_arm(worker_) != UCS_ERR_BUSY; }
  int descriptor() const override { return descriptor_; }
  absl::Status ErrorOf(uint32_t peer) const override;

 private:
  // Of one peer; its address is what UCX's error handler gets.
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    ucs_status_t error = UCS_OK;
  };

  UcxTransport() = default;
  absl::Status OpenContext(const comm::TransportOptions& options);
  absl::Status InitContext(const std::string& net_devices);
  absl::Status OpenWorker();

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::string address_;
  std::vector<ucp_mem_h> registered_;
  std::map<uint32_t, std::unique_ptr<Peer>> peers_;
};

}  // namespace sgd::ucx
