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

#include "runtime/comm/collective_thread.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/doubling_flow.h"
#include "runtime/comm/host_channel.h"
#include "runtime/comm/host_links.h"
#include "runtime/comm/move_flows.h"
#include "runtime/comm/placement.h"
#include "runtime/comm/reduction_flows.h"
#include "runtime/comm/shared_memory_communicator.h"
#include "runtime/comm/two_level_plan.h"

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

  // As SharedMemoryCommunicator::StartThread. Without a thread, collectives that are started complete at once.
  void StartThread(bool has_own_core);
  // Whether the calling thread looks for messages all the time while it waits, else it sleeps until there are some.
  void set_spins(bool spins) { spins_ = spins; }

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
  uint64_t sent_bytes() const override { return sent_bytes_ + local_->sent_bytes() + sent_by_channels_; }
  uint64_t host_bytes() const override { return host_bytes_ + sent_by_channels_; }

  const Placement& placement() const { return links_.placement(); }

 private:
  // A collective between hosts; null plan: one of this host's ranks alone.
  struct Wide {
    std::unique_ptr<TwoLevelPlan> plan;
    std::vector<const std::byte*> windows;  // by position, null of other hosts
    std::vector<ReductionFlow> reductions;
    std::optional<DoublingFlow> doubling;
    std::vector<MoveFlow> moves;
  };
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
                       std::unique_ptr<Transport> transport, std::vector<std::string> addresses);
  uint32_t rank() const { return control_.rank(); }
  absl::Status CheckPrepared(CollectiveHandle handle) const;
  absl::Status CheckChannel(ChannelHandle handle, bool sends) const;
  absl::Status OpenFlows(Wide& wide);
  absl::Status ReserveStaging(const Wide& wide);
  absl::Status Run(uint32_t index, absl::Duration timeout, bool spins);
  absl::Status RunBetweenHosts(uint32_t index, Wide& wide, absl::Duration timeout, bool spins);
  absl::Status WaitForHost(const TwoLevelPlan& plan, absl::Duration timeout);
  void BeginFlows(Wide& wide);
  bool AdvanceFlows(Wide& wide);
  bool AreDone(const Wide& wide) const;
  void CopyOnHost(const Wide& wide);
  HostLinks::Missing DescribeSilent(const Wide& wide) const;

  Control& control_;
  std::unique_ptr<SharedMemoryCommunicator> local_;
  HostLinks links_;
  std::vector<std::byte*> host_windows_;  // by index on this host
  std::vector<Wide> collectives_;
  std::vector<Progress> progress_;  // one per collective
  std::unique_ptr<std::byte, Free> staging_;
  uint64_t staging_bytes_ = 0;
  TileScratch scratch_;
  uint64_t sent_bytes_ = 0, host_bytes_ = 0;
  uint32_t under_way_ = 0;
  bool spins_ = false;
  // The members above belong to it while anything is in flight.
  std::unique_ptr<CollectiveThread> thread_;
  // These are always the calling thread's; the channels, under the mutex, that of the links too.
  std::vector<End> ends_;
  std::map<std::tuple<uint32_t, uint64_t, bool>, std::unique_ptr<HostChannel>>
      channels_;                   // by peer, mailbox, direction
  uint64_t sent_by_channels_ = 0;  // between hosts
};

}  // namespace sgd::comm
