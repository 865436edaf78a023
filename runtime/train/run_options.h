// The options of a run, as plain data: the names are those of sgdrun's flags, which docs of the command line
// explain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/train/guard_options.h"
#include "runtime/train/verify_options.h"

namespace sgd::train {

enum class Mode { kOnce, kTrain, kBench };

struct RunOptions {
  Mode mode = Mode::kOnce;
  std::string artifact;
  std::string program;  // empty: main, else train
  absl::Duration deadline = absl::Seconds(300);
  absl::Duration step_limit = absl::InfiniteDuration();  // see exec::LoopLimits

  std::string inputs;
  std::string outputs;
  bool use_model_output_names = false;

  std::string init;
  std::string batches;
  std::vector<std::string> data;                          // see data::OpenDataSet
  std::vector<std::pair<std::string, std::string>> feed;  // (input, tensor of the data)
  uint64_t steps = 0;
  bool only_prepares = false;   // --steps 0: everything is checked and prepared, nothing is written
  bool only_evaluates = false;  // --eval-only, without steps
  std::optional<uint64_t> seed;
  std::string loss;
  uint64_t eval_every = 0;  // 0: never
  std::vector<std::string> eval_data;
  std::string save;
  uint64_t save_every = 0;  // 0: at the end only
  absl::Duration mtbf;      // mean time between failures of a rank, which decides when to save; zero: save_every does
  checkpoint::KeepPolicy keep;
  int save_zstd = 0;      // level of compression of checkpoints; 0: none
  uint64_t restarts = 0;  // how often ranks that are lost may be replaced
  std::string resize;     // file that says with how many ranks to go on; empty: none
  // Steps between two replacements of ranks that hold up the others, at least; 0: none is replaced.
  uint64_t replace_every = 0;
  uint64_t peer_copies = 0;          // steps between copies of the state in memory; 0: as its size suggests
  bool peer_copies_by_cost = false;  // as their measured cost says
  std::string save_weights;
  std::string resume;
  // Whether ranks of several processes verify the files of `resume` together, by AgreeOnCheckpoint.
  bool verifies_together = false;
  std::string carry;
  std::string carry_json;
  uint64_t bench_steps = 0;
  uint64_t past_restarts = 0;  // of this run before this start, for those who watch it
  GuardOptions guard;
  VerifyOptions verify;

  std::string device;               // empty: what the artifact was compiled for
  bool shares_gpus = false;         // whether several ranks may have one GPU
  bool fast = false;                // whether the order of reductions may vary between runs
  bool tune = false;                // whether candidates for matmuls and convolutions are timed
  bool eager = false;               // whether a GPU launches every instruction by itself
  bool null_kernels = false;        // whether the plan runs without kernels, to see its own cost
  bool times_instructions = false;  // see exec::ExecutorOptions::profile
};

}  // namespace sgd::train
