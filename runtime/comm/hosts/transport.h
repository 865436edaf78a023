// The interface through which ranks of different hosts send each other bytes. Messages are matched by their tags;
// nothing here blocks. A transport is a plugin, so that a host without its library still runs everything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::comm {

// A message on its way. It stays where it is, and its bytes are not touched, while it is kPending.
struct Completion {
  enum class State : uint8_t { kIdle, kPending, kDone, kFailed };

  State state = State::kIdle;
  uint64_t bytes = 0;           // expected, of a receive
  void* request = nullptr;      // the transport's
  const char* cause = nullptr;  // of kFailed: a text that lives as long as the process
};

// The cause where a message arrives with another size than its receiver expects.
inline constexpr char kOtherSize[] = "a message had another size than the artifact says";

// Belongs to one rank; one thread uses it at a time.
class Transport {
 public:
  // Drops what is in flight, and waits for nobody.
  virtual ~Transport() = default;

  // Library and version, "UCX 1.13.1": equal on all ranks, since versions do not understand each other.
  virtual std::string version() const = 0;
  // The devices that it may use, "tcp/eth0 rc_mlx5/mlx5_0:1".
  virtual std::string devices() const = 0;
  // Where others reach this rank: bytes for their Connect.
  virtual std::string address() const = 0;

  // Registers memory with network adapters before the first message, until the transport ends. No effect if adapters
  // do not read memory by themselves.
  virtual absl::Status Register(std::byte* memory, uint64_t bytes) = 0;

  // Before the first message to `peer`. Waits for nobody.
  virtual absl::Status Connect(uint32_t peer, std::string_view address) = 0;

  // Begins to send; done when the bytes may be overwritten. To arrive they may need Progress even after that.
  virtual void Send(uint32_t peer, uint64_t tag, const std::byte* data, uint64_t bytes, Completion& completion) = 0;
  // Begins to receive the message with this tag; failed when it has not exactly so many bytes, with kOtherSize as the
  // cause.
  virtual void Receive(uint64_t tag, std::byte* data, uint64_t bytes, Completion& completion) = 0;

  // Moves on what can be moved; false when that was nothing.
  virtual bool Progress() = 0;
  // Before sleeping until descriptor() is readable: false when there is something to move already.
  virtual bool Arm() = 0;
  virtual int descriptor() const = 0;

  // The known error of the connection to a peer.
  virtual absl::Status ErrorOf(uint32_t peer) const = 0;
};

struct TransportOptions {
  std::string net_devices;  // "mlx5_0:1,eth0"; empty: all, or what the library's own environment says
  // Network interfaces that reach the other hosts. Without net_devices, of TCP these alone are used, where there are
  // any: others, such as a bridge of containers, may have the same address on every host.
  std::vector<std::string> interfaces = {};
};

// The object of a plugin. Lives as long as the process.
class TransportPlugin {
 public:
  virtual ~TransportPlugin() = default;
  // FailedPrecondition when no device can be used.
  virtual absl::StatusOr<std::unique_ptr<Transport>> Open(const TransportOptions& options) const = 0;
};

// Opens lib/sgd/libsgd_ucx.so beside the folder of this program. FailedPrecondition, saying what to install, when this
// build or this host has it not, or when it was built from other headers. The library reads
// its settings from the environment: process/transport_variables.h.
absl::StatusOr<const TransportPlugin*> OpenTransportPlugin();

// The names of what a plugin exports: const TransportPlugin* (*)(), and a hash of this header.
inline constexpr char kTransportEntry[] = "sgd_transport_module";
inline constexpr char kTransportInterface[] = "sgd_transport_interface";

}  // namespace sgd::comm
