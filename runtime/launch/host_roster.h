// Claims that launchers of several hosts exchange when they connect, and the launcher that starts each host's ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sgd::launch {

// The claim of a launcher.
struct HostClaim {
  uint32_t node = 0;        // the host whose ranks it starts; --nnodes and above: a spare
  uint64_t generation = 0;  // of the last meeting that it was at; 0: none
  uint32_t launchers = 0;   // that were at that one, spares too
  bool gives_way = false;   // its host is slow: others should start these ranks, where there are any
  std::string facts;        // the caller's
};

struct HostMember {
  HostClaim claim;
  std::string place;  // HOST:PORT where others reach it
};

// The outcome of a meeting.
struct HostRoster {
  uint64_t generation = 0;          // of this meeting: 1, 2, ...
  uint32_t launchers = 0;           // that were there
  uint64_t waited_ms = 0;           // since its leader was without ranks
  std::vector<std::string> places;  // where the next meeting may be, in order of preference
  std::vector<HostMember> nodes;    // by the host whose ranks they start from now on; claims say what they were before
  uint32_t node = 0;                // of the launcher that is told; as many as there are nodes, or more: a spare
  uint32_t spares = 0;              // that are left, but for slow hosts
};

// Which member takes each host's place, or nothing as long as others should be waited for. All hosts and at a first
// meeting all `spares` must have come. At a later one spares take the places of hosts that are missing, once `is_due`
// says that these had their time: where more than half of the launchers of the meeting before are here, or half of them
// with host 0, so that a network that is cut in two does not go on as two jobs. Nobody waits where all of these are
// here, so that a host is missing since its launcher gives way. Where spares are too few, such a launcher keeps its
// host.
std::optional<std::vector<size_t>> AssignNodes(const std::vector<HostMember>& members, uint32_t nodes, uint32_t spares,
                                               bool is_due);

std::string EncodeClaim(const HostClaim& claim);
std::optional<HostClaim> DecodeClaim(std::string_view payload);
std::string EncodeRoster(const HostRoster& roster);
std::optional<HostRoster> DecodeRoster(std::string_view payload);

}  // namespace sgd::launch
