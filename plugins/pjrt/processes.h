// The processes of a program under JAX's coordinator: who has which devices, and how they reach each other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugins/pjrt/key_value_store.h"
#include "runtime/comm/tcp/socket_address.h"
#include "runtime/comm/tcp/tcp_connection.h"

namespace sgd::pjrt {

// The claim of this process.
struct ProcessClaim {
  uint32_t index = 0;
  uint32_t count = 1;
  uint32_t devices = 1;
  std::string coordinator;  // HOST:PORT, where JAX's coordinator listens
};

class Processes {
 public:
  // Waits for all processes, each with a client of its own, for SGD_DEADLINE seconds at most. DeadlineExceeded naming
  // one that has not come. Clients that a process creates one after the other find those of the same number.
  static absl::StatusOr<std::unique_ptr<Processes>> Meet(const ProcessClaim& claim, const KeyValueStore& store);

  uint32_t index() const { return claim_.index; }
  // By process.
  const std::vector<uint32_t>& devices() const { return devices_; }
  const std::string& secret() const { return secret_; }
  // For one process to wait for another.
  absl::Duration deadline() const { return deadline_; }

  // Begins to listen at a free port of this host, and tells its address to those that look for `name`.
  absl::StatusOr<std::unique_ptr<comm::TcpAcceptor>> Listen(const std::string& name, comm::HostAndPort* place) const;
  // The place where a process listens for `name`. Waits for it; `check` is asked every second, and its error ends this.
  absl::StatusOr<comm::HostAndPort> Find(const std::string& name, const std::function<absl::Status()>& check) const;

 private:
  Processes(const ProcessClaim& claim, const KeyValueStore& store);
  std::string Key(std::string_view name) const;
  absl::Status ExchangeDevices();
  absl::Status ShareSecret();

  const ProcessClaim claim_;
  const KeyValueStore store_;
  const uint64_t client_;  // number of this client in its process
  absl::Duration deadline_;
  std::vector<uint32_t> devices_;
  std::string secret_;
  std::string host_;  // of this process, for the others
};

// The seconds that SGD_DEADLINE asks for, 300 without it. InvalidArgument for what is no number from 1 to a million.
absl::StatusOr<absl::Duration> DeadlineOfProcesses();

}  // namespace sgd::pjrt
