// Where rank 0 listens for ranks of other hosts: from what the user says or from what launchers leave in the
// environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/tcp/socket_address.h"
#include "runtime/launch/rank_environment.h"

namespace sgd::launch {

// `flag` (--master), else SGD_MASTER, places separated by commas: said for this job, so that its ranks meet at the
// first wherever they are. None where neither says any. InvalidArgument when one is not HOST:PORT.
absl::StatusOr<std::vector<comm::HostAndPort>> ToldMasters(const std::optional<std::string>& flag,
                                                           const GetVariable& get);

// MASTER_ADDR with MASTER_PORT (default 29500; one more where torchrun's own store listens there), else the first host
// of a Slurm step with a port made from the job's number.
absl::StatusOr<std::optional<comm::HostAndPort>> MasterOfLauncher(const GetVariable& get);

// InvalidArgument, with the address's `source` in front, where ranks of other hosts cannot connect: malformed ones,
// loopback, and the address that stands for all of a host's.
absl::Status CheckReachable(const comm::HostAndPort& place, const std::string& source);

// The first host of a Slurm list: "node[07-09,12],login" is node07.
std::string FirstHost(std::string_view list);

}  // namespace sgd::launch
