// Messages between ranks of one host during the rendezvous, on a Unix socket that keeps their borders.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::comm {

// From a rank, at first: who it is.
struct RendezvousHello {
  uint64_t magic = 0x53474448454c4f34;
  uint32_t rank = 0;
  uint32_t size = 0;
  uint64_t window_bytes = 0;
  char version[64] = {};
  char plan[128] = {};  // the beginning of its name
};

// From a rank, when it cannot join after all; from rank 0, to all: how the rendezvous has ended. With code 0 it
// brings the segment's descriptor.
struct RendezvousOutcome {
  uint64_t magic = 0x53474f5554434f4d;
  int32_t code = 0;
  char message[1012] = {};
};

enum class Received { kNothingYet, kMessage, kOther, kEnd };

// An abstract address: it has no name in a file system. Names that are too long are hashed into shape.
socklen_t MakeRendezvousAddress(const std::string& name, sockaddr_un* address);

// A socket for such an address that does not block.
UniqueFd NewRendezvousSocket();

absl::StatusOr<ucred> PeerOfRendezvous(int socket);

// Takes one message of the hello's, or the outcome's, size and form.
Received Receive(int socket, RendezvousHello& hello);
Received Receive(int socket, RendezvousOutcome& outcome);
// The same with the descriptor that may come along.
Received Receive(int socket, RendezvousOutcome& outcome, UniqueFd& descriptor);

bool Send(int socket, const RendezvousHello& hello);
// `descriptor` is passed along unless it is -1. A rank that is gone is noticed elsewhere.
void Send(int socket, const absl::Status& outcome, int descriptor);
absl::Status StatusOf(const RendezvousOutcome& outcome);

}  // namespace sgd::comm
