// Runs a function as every rank of a job that has met over TCP, ranks being threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/comm/tcp/control_channel.h"
#include "runtime/comm/tcp/socket_address.h"

namespace sgd::comm {

constexpr absl::Duration kTcpTimeout = absl::Seconds(60);

// A place on this host where nobody listens, different on every call.
HostAndPort FreePlace(const std::string& host = "127.0.0.1");

// Ranks that go on when the job has ended fail the test.
ControlChannelOptions ChannelOptions(uint32_t rank, uint32_t size);

void RunOverTcpAsThreads(uint32_t ranks, const std::function<void(ControlChannel& channel)>& function);

}  // namespace sgd::comm
