// The rings of a job that has failed, as one timeline for chrome://tracing and Perfetto.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/artifact/program_generated.h"
#include "runtime/watch/flight_ring.h"

namespace sgd::watch {

// A rank's last seconds.
struct RankFlight {
  std::string where;   // "step 17, instruction 12 (collective) at model.py:3:1, for 1.2 s"
  std::string events;  // of the timeline; may be empty
};

// Of rank `rank` of the job, as of `now` in steady nanoseconds: at most two seconds before its last record and 20,000
// instructions. `root` is the verified artifact that it ran; records that do not fit it are left out.
RankFlight ReadFlight(const FlightRing& ring, const artifact::Artifact& root, uint32_t rank, int64_t now);

// The timeline of the ranks that follow `first_rank`. Its "otherData" has the cause of the job's end and where each
// rank was.
std::string FlightTraceJson(const std::vector<RankFlight>& ranks, uint32_t first_rank, const std::string& cause);

// "rank 0: ...; rank 1: ..." of the first eight ranks.
std::string FlightText(const std::vector<RankFlight>& ranks, uint32_t first_rank);

}  // namespace sgd::watch
