// A transport between threads of one process, for tests: every message is copied when both ends have said where.
#pragma once

#include <memory>
#include <string>

#include "runtime/comm/hosts/transport.h"

namespace sgd::comm {

// What the transports of one job have in common.
class MemoryNetwork;
std::shared_ptr<MemoryNetwork> MakeMemoryNetwork();

// `version` and `devices` as other ranks see them.
std::unique_ptr<Transport> MakeMemoryTransport(std::shared_ptr<MemoryNetwork> network,
                                               const std::string& version = "memory 1",
                                               const std::string& devices = "memory/0");

}  // namespace sgd::comm
