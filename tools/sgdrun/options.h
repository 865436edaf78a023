// The command line of sgdrun as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/time/time.h"
#include "runtime/artifact/plan_choice.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/train/run_options.h"
#include "tools/command_line/leave.h"

namespace sgd::sgdrun {

// Of ranks that go on where others have been lost.
struct Resumption {
  absl::Time lost_at;  // by the steady clock
  uint64_t step = 0;   // the first that they do
  bool is_from_memory = false;
};

struct Options {
  train::RunOptions run;
  // Instead of all else: then there is no artifact.
  bool shows_topology = false;
  std::string measured_topology;  // file to write; empty: none

  launch::RankFlags rank_flags;
  artifact::PlanChoice plan;
  std::string secret_file;
  std::string net_devices;
  uint32_t threads = 0;  // 0: cores divided by ranks
  launch::CommThread comm_thread = launch::CommThread::kAuto;

  std::string log_json;
  uint64_t print_every = 1;
  bool live = false;
  std::string metrics;        // file
  uint32_t metrics_port = 0;  // 0: none
  std::string flight_recorder;
  std::string profile;
  std::string trace;
  bool saves_by_cost = false;            // --save-every auto
  uint32_t min_ranks = 0;                // 0: no fewer than at first
  std::optional<Resumption> resumption;  // no flag
};

using tools::Leave;

// Options to run with, or a text to print and leave.
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::sgdrun
