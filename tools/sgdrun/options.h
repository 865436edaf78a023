// The command line of sgdrun as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/rank_environment.h"

namespace sgd::sgdrun {

enum class Mode { kOnce, kTrain, kBench };

struct Options {
  Mode mode = Mode::kOnce;
  std::string artifact;
  std::string program;          // empty: main, else train
  bool shows_topology = false;  // instead of all else: then there is no artifact

  launch::RankFlags rank_flags;
  std::string secret_file;
  uint32_t threads = 0;  // 0: cores divided by ranks
  launch::CommThread comm_thread = launch::CommThread::kAuto;
  absl::Duration deadline = absl::Seconds(300);
  std::string device;        // empty: what the artifact was compiled for
  bool shares_gpus = false;  // whether several ranks may have one GPU
  bool fast = false;         // whether sums may be taken in another order in every run
  bool tune = false;         // whether candidates for products and convolutions are timed
  bool eager = false;        // whether a GPU is given every instruction in every step

  std::string inputs;
  std::string outputs;
  bool use_model_output_names = false;

  std::string init;
  std::string batches;
  std::string data;
  std::vector<std::pair<std::string, std::string>> feed;  // (input, tensor of the data)
  uint64_t steps = 0;
  std::optional<uint64_t> seed;
  std::string loss;
  uint64_t eval_every = 0;  // 0: never
  std::string eval_data;
  std::string log_json;
  std::string save;
  uint64_t save_every = 0;  // 0: at the end only
  uint64_t keep = 0;        // how many checkpoints; 0: all
  std::string resume;
  std::string carry;
  std::string carry_json;

  uint64_t bench_steps = 0;
  bool null_kernels = false;
  std::string profile;
  std::string trace;
};

// What to do with a command line: options to run with, or a text to print and leave.
struct Leave {
  int exit_code;     // 0 for --help and --version, 2 for wrong usage
  std::string text;  // for standard output when exit_code is 0, else for standard error; ends with
                     // a line end
};
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::sgdrun
