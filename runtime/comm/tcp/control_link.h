// Connections between processes of a job, and the frames that they send each other while they meet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control_message.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/comm/tcp/frame.h"
#include "runtime/comm/tcp/tcp_connection.h"

namespace sgd::comm {

// The purpose of a connection, which its hello says.
enum class LinkPurpose : uint32_t {
  kRank = 1,    // of a rank that meets the others
  kReport = 2,  // of a process that tells of a rank's death
  kHost = 3,    // of a launcher that meets those of other hosts
};

// A connection to another rank, ready for frames.
struct ControlLink {
  uint32_t rank = 0;  // at the other end
  UniqueFd socket;    // does not block
  FrameEncoder encoder;
  FrameDecoder decoder;
  std::string address;    // of the other end
  std::string interface;  // of this host, that the connection goes through; empty between ranks of one host
};

ControlLink MakeLink(TcpConnection connection, uint32_t rank, bool is_listener);

// The next frame that comes before `end`. DeadlineExceeded; Unavailable when the other end is gone.
absl::StatusOr<Frame> ReadFrame(ControlLink& link, absl::Time end);

// Takes at most a fifth of a second. A process that is gone sees the end of the connection.
void SendFrame(ControlLink& link, ControlKind kind, const std::string& payload);

// Listens at all addresses that the place stands for and that are this host's: others may reach some of them only.
// Without any, as behind a service's address, at all that this host has. Errors and `note` as of TcpAcceptor::Listen.
absl::StatusOr<TcpAcceptor> ListenAt(const HostAndPort& place, const std::string& secret,
                                     const std::function<void(const std::string& note)>& note);

}  // namespace sgd::comm
