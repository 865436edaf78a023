// The control is that of ranks of several hosts, over TCP on loopback.
#include "host_threads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <thread>

#include "memory_transport.h"
#include "runtime/comm/tcp/tcp_control.h"
#include "runtime/comm/tcp/tcp_meeting.h"
#include "runtime/process/transport_variables.h"
#include "tcp_threads.h"

namespace sgd::comm {
namespace {

struct Host {
  std::vector<uint32_t> ranks;
  std::shared_ptr<SharedMemorySegment> segment;
};

// `host` may be null.
void RunMet(uint32_t rank, uint32_t size, const Host* host, const HostAndPort& place,
            const std::function<void(Control&)>& function) {
  auto links = MeetOverTcp({.place = place, .rank = rank, .size = size, .secret = "", .timeout = kTcpTimeout});
  ASSERT_TRUE(links.ok()) << links.status();
  ControlChannelOptions options = ChannelOptions(rank, size);
  if (host != nullptr)
    options.on_abort = [&](uint32_t at_fault, const absl::Status& cause) { host->segment->Abort(at_fault, cause); };
  auto channel = ControlChannel::Start(*std::move(links), std::move(options));
  ASSERT_TRUE(channel.ok()) << channel.status();
  ControlChannel* const borrowed = channel->get();
  TcpControl control(*std::move(channel));
  function(control);
  control.Finish();
  EXPECT_TRUE(borrowed->WaitForOthers(kTcpTimeout).ok() || !borrowed->abort_cause().ok());
}

void RunRank(Control& control, const Layout& layout, const Host& host, std::unique_ptr<Transport> transport,
             const std::function<void(TwoLevelCommunicator&)>& function) {
  const uint32_t rank = control.rank();
  const uint32_t index = static_cast<uint32_t>(std::ranges::find(host.ranks, rank) - host.ranks.begin());
  auto local = SharedMemoryCommunicator::Connect(host.segment, index, kTcpTimeout, UINT32_MAX, host.ranks);
  ASSERT_TRUE(local.ok()) << local.status();
  // As ranks beside other tests do.
  (*local)->control().barrier().set_shares_cores(true);
  auto placement = AgreeOnPlacement(control, std::to_string(layout[rank]), kTcpTimeout);
  ASSERT_TRUE(placement.ok()) << placement.status();
  auto communicator = TwoLevelCommunicator::Connect(control, *std::move(local), *std::move(placement),
                                                    std::move(transport), kTcpTimeout);
  ASSERT_TRUE(communicator.ok()) << communicator.status();
  function(**communicator);
  // Connections close when nobody needs them any more.
  if (control.Poll().ok()) control.Barrier(kTcpTimeout).IgnoreError();
}

}  // namespace

Layout InBlocks(uint32_t ranks, uint32_t hosts) {
  Layout layout;
  for (uint32_t rank = 0; rank < ranks; ++rank) layout.push_back(rank * hosts / ranks);
  return layout;
}

MakeTransport OverMemory() {
  auto network = MakeMemoryNetwork();
  return [network](uint32_t) { return MakeMemoryTransport(network); };
}

MakeTransport OverUcx() {
  setenv("UCX_TLS", "tcp", /*overwrite=*/0);
  process::SetTransportVariables();
  auto plugin = OpenTransportPlugin();
  if (!plugin.ok()) return nullptr;
  return [plugin](uint32_t) {
    auto transport = (*plugin)->Open({});
    EXPECT_TRUE(transport.ok()) << transport.status();
    return *std::move(transport);
  };
}

void RunOnHosts(const Layout& layout, uint64_t window_bytes, const MakeTransport& make_transport,
                const std::function<void(TwoLevelCommunicator& communicator)>& function) {
  std::map<uint32_t, Host> hosts;
  for (uint32_t rank = 0; rank < layout.size(); ++rank) hosts[layout[rank]].ranks.push_back(rank);
  for (auto& [number, host] : hosts) {
    auto segment = SharedMemorySegment::Create(static_cast<uint32_t>(host.ranks.size()), window_bytes);
    ASSERT_TRUE(segment.ok()) << segment.status();
    host.segment = *std::move(segment);
  }
  const HostAndPort place = FreePlace();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < layout.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const Host& host = hosts.at(layout[rank]);
      RunMet(rank, static_cast<uint32_t>(layout.size()), &host, place,
             [&](Control& control) { RunRank(control, layout, host, make_transport(rank), function); });
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void RunOnHostsWithoutCommunicator(uint32_t ranks, const std::function<void(Control& control)>& function) {
  const HostAndPort place = FreePlace();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { RunMet(rank, ranks, nullptr, place, function); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace sgd::comm
