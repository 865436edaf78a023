// A port is found by letting the system choose one.
#include "tcp_threads.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "runtime/comm/tcp/tcp_connection.h"
#include "runtime/comm/tcp/tcp_meeting.h"

namespace sgd::comm {

HostAndPort FreePlace(const std::string& host) {
  const HostAndPort any{host, 0};
  const auto acceptor = TcpAcceptor::Listen(Resolve(any)->front(), "");
  return {host, acceptor.ok() ? acceptor->port() : uint16_t{1}};
}

ControlChannelOptions ChannelOptions(uint32_t rank, uint32_t size) {
  ControlChannelOptions options;
  options.rank = rank;
  options.size = size;
  options.grace = kTcpTimeout;
  options.give_up = [](const absl::Status& cause) { ADD_FAILURE() << "given up: " << cause; };
  return options;
}

void RunOverTcpAsThreads(uint32_t ranks, const std::function<void(ControlChannel& channel)>& function) {
  const HostAndPort place = FreePlace();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      auto links = MeetOverTcp({.place = place, .rank = rank, .size = ranks, .secret = "", .timeout = kTcpTimeout});
      ASSERT_TRUE(links.ok()) << links.status();
      auto channel = ControlChannel::Start(*std::move(links), ChannelOptions(rank, ranks));
      ASSERT_TRUE(channel.ok()) << channel.status();
      function(**channel);
      (*channel)->Finish();
      EXPECT_TRUE((*channel)->WaitForOthers(kTcpTimeout).ok() || !(*channel)->abort_cause().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace sgd::comm
