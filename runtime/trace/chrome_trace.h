// A step as a timeline that chrome://tracing and Perfetto show.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::trace {

// One execution of an instruction of the program.
struct TracedRun {
  uint32_t instruction;
  uint32_t stream;       // of the device: a row of the timeline; 0 computes
  absl::Duration begin;  // from the begin of the step, of several ranks of the first that began it
  absl::Duration length;
};

// The events of one rank, which is a process of the timeline: a row for each stream, on it a bar for each run, with its
// operation's name, kernel or shape, and source location. `program` belongs to the verified `root`.
std::string ChromeTraceEvents(const artifact::Artifact& root, const artifact::Program& program, uint32_t rank,
                              const std::vector<TracedRun>& runs);

// {"traceEvents": [...]} of the events of some ranks, empty texts left out, with "otherData" where there is any.
std::string ChromeTraceJson(const std::vector<std::string>& events,
                            const std::vector<std::pair<std::string, std::string>>& other_data = {});

}  // namespace sgd::trace
