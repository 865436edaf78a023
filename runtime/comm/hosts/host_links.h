// All links of a rank to ranks of other hosts, over one transport.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/control/placement.h"
#include "runtime/comm/hosts/host_link.h"
#include "runtime/comm/hosts/transport.h"

namespace sgd::comm {

// Used under the lock of ProgressEngine.
class HostLinks {
 public:
  // All ranks have offered the addresses of their transports; `timeout` bounds each look-up. `transport` is null where
  // there is one host: then there are no links.
  HostLinks(std::unique_ptr<Transport> transport, Control& control, Placement placement, absl::Duration timeout);

  // Drops what is in flight; links are of no more use.
  void Close() { transport_.reset(); }

  Transport* transport() { return transport_.get(); }
  const Placement& placement() const { return placement_; }
  Control& control() { return control_; }

  // Looks the peer's address up and connects, where that has not been done.
  absl::StatusOr<HostLink*> Open(uint32_t peer, uint64_t stream);

  // Moves what the transport can move, and sends due acknowledgements; whether that was anything.
  bool Progress();

  // The job's end or a broken connection, for a wait that `description` names; OK while there is none.
  absl::Status Failure(const std::string& description);

 private:
  absl::Status Connect(uint32_t peer);
  absl::Status FailureOf(uint32_t peer, const absl::Status& error, const std::string& description);

  std::unique_ptr<Transport> transport_;
  Control& control_;
  Placement placement_;
  absl::Duration timeout_;
  std::map<std::pair<uint32_t, uint64_t>, std::unique_ptr<HostLink>> links_;
};

}  // namespace sgd::comm
