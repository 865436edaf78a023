// Runs a function as every rank of a job on several hosts: ranks are threads, a host is a segment that its ranks share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/hosts/two_level_communicator.h"

namespace sgd::comm {

// Which ranks are on which host, by rank.
using Layout = std::vector<uint32_t>;

// `ranks` on `hosts` hosts, each with consecutive ranks, as evenly as possible.
Layout InBlocks(uint32_t ranks, uint32_t hosts);

// Makes the transport of a rank.
using MakeTransport = std::function<std::unique_ptr<Transport>(uint32_t rank)>;

// Over memory; over UCX, or null where this machine or build has it not.
MakeTransport OverMemory();
MakeTransport OverUcx();

void RunOnHosts(const Layout& layout, uint64_t window_bytes, const MakeTransport& make_transport,
                const std::function<void(TwoLevelCommunicator& communicator)>& function);

// Without a communicator: ranks that have met.
void RunOnHostsWithoutCommunicator(uint32_t ranks, const std::function<void(Control& control)>& function);

}  // namespace sgd::comm
