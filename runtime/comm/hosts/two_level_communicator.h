// The communicator of CPU ranks on several hosts: through shared memory inside a host, through a transport between
// hosts. Results have the same bits as on one host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/control/placement.h"
#include "runtime/comm/hosts/bulk_exchange.h"
#include "runtime/comm/hosts/collective_queue.h"
#include "runtime/comm/hosts/host_channel.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/progress_engine.h"
#include "runtime/comm/hosts/two_level_collective.h"
#include "runtime/comm/one_host/shared_memory_communicator.h"

namespace sgd::comm {

class TwoLevelCommunicator final : public Communicator {
 public:
  // All ranks call it. `control` is of all ranks and borrowed, `local` is of those of this host, and `transport` is
  // null where there is but one host. FailedPrecondition when the ranks' transports cannot reach each other.
  static absl::StatusOr<std::unique_ptr<TwoLevelCommunicator>> Connect(Control& control,
                                                                       std::unique_ptr<SharedMemoryCommunicator> local,
                                                                       Placement placement,
                                                                       std::unique_ptr<Transport> transport,
                                                                       absl::Duration timeout);
  // Ends the job when a collective is still in flight.
  ~TwoLevelCommunicator() override;

  // From now on collectives that are started run beside the caller's compute, on the thread that moves messages.
  // `has_own_core`: there is a core that nobody computes on. Without this call collectives that are started complete at
  // once. All ranks do the same. ResourceExhausted where the system gives no thread.
  absl::Status StartThread(bool has_own_core);
  // Whether the calling thread looks for messages all the time while it waits, else it sleeps until there are some.
  void set_spins(bool spins) { engine_.set_waits_spin(spins); }

  Control& control() const override { return control_; }
  std::byte* window() override { return local_->window(); }
  uint64_t window_bytes() const override { return local_->window_bytes(); }
  absl::StatusOr<CollectiveHandle> Prepare(const Mesh& mesh, const CollectiveSpec& spec) override;
  absl::Status Execute(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Start(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Wait(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status UseStages(const StageLinks& stages, absl::Duration timeout) override;
  absl::StatusOr<ChannelHandle> PrepareChannel(const ChannelSpec& spec) override;
  absl::Status Send(ChannelHandle handle, const std::byte* source, absl::Duration timeout) override;
  absl::Status Receive(ChannelHandle handle, std::byte* target, absl::Duration timeout) override;
  absl::Status Exchange(const BulkMessages& messages, absl::Duration timeout) override;
  absl::StatusOr<SideMessages> ReserveSideMessages(uint32_t to, uint64_t sent_bytes, uint32_t from,
                                                   uint64_t received_bytes) override;
  absl::Status StartSideMessages(std::function<bool()> take) override;
  absl::Status FinishSideMessages(absl::Duration timeout) override;
  void DropSideMessages() override { side_.reset(); }
  uint64_t sent_bytes() const override { return shared_.sent_bytes + local_->sent_bytes() + sent_by_channels_; }
  uint64_t host_bytes() const override { return shared_.host_bytes + sent_by_channels_; }

  absl::Duration hidden_time() override { return engine_.hidden_time(); }

  const Placement& placement() const { return links_.placement(); }

 private:
  struct Progress {
    bool is_under_way = false;
    uint32_t ticket = 0;  // with a thread
    absl::Status status;  // without one
  };
  // A prepared end of a channel: one of this host's, or of another.
  struct End {
    bool sends = false;
    uint64_t message_bytes = 0;
    std::string description;
    ChannelHandle on_host;
    HostChannel* between_hosts = nullptr;
  };
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  TwoLevelCommunicator(Control& control, std::unique_ptr<SharedMemoryCommunicator> local, Placement placement,
                       std::unique_ptr<Transport> transport, absl::Duration timeout);
  uint32_t rank() const { return control_.rank(); }
  absl::Status CheckPrepared(CollectiveHandle handle) const;
  absl::Status CheckChannel(ChannelHandle handle, bool sends) const;
  absl::Status ReserveStaging(uint64_t bytes);
  absl::Status Run(uint32_t index, absl::Duration timeout);
  absl::Status WaitForMessages(SteppedCollective& collective, absl::Duration timeout);
  uint32_t Enqueue(uint32_t index, absl::Duration timeout);
  absl::Status WaitForTicket(uint32_t ticket);

  Control& control_;
  std::unique_ptr<SharedMemoryCommunicator> local_;
  HostLinks links_;
  std::unique_ptr<std::byte, Free> staging_;
  uint64_t staging_bytes_ = 0;
  std::vector<std::byte> bulk_;  // of Exchange
  SideMessages side_messages_;
  std::unique_ptr<std::byte, Free> side_memory_;
  std::unique_ptr<BulkExchange> side_;  // in flight
  TwoLevelContext shared_;
  std::vector<std::unique_ptr<SteppedCollective>> collectives_;
  std::vector<Progress> progress_;  // one per collective
  uint32_t under_way_ = 0;
  bool is_asynchronous_ = false;
  ProgressEngine engine_;
  CollectiveQueue queue_;
  // These are always the calling thread's.
  std::vector<End> ends_;
  std::map<std::tuple<uint32_t, uint64_t, bool>, std::unique_ptr<HostChannel>>
      channels_;                   // by peer, mailbox, direction
  uint64_t sent_by_channels_ = 0;  // between hosts
};

}  // namespace sgd::comm
