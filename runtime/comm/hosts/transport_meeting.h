// Properties that ranks of different hosts must agree on before they connect.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/control/placement.h"

namespace sgd::comm {

// All ranks call it, with the version and the devices of their transports. FailedPrecondition, the same on all, when
// two hosts' versions differ or when no kind of network ("tcp" of "tcp/eth0") is found on both.
absl::Status CompareTransports(Control& control, const Placement& placement, const std::string& version,
                               const std::string& devices, absl::Duration timeout);

}  // namespace sgd::comm
