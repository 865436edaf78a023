// Texts of a training run: before its first step, for each step, and at its end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/trace/json_log.h"
#include "runtime/train/job.h"
#include "runtime/watch/job_status.h"

namespace sgd::sgdrun {

// For instance
//   artifact    mlp.sgda, program 'train'
//   ranks       4: data=2 model=2
//   parameters  26.5k in 4 tensors, 103.52 KiB
//   a step      128 rows, 16384 tokens
//   steps       100 to 199, resumed at step 100 from checkpoints/step-0000000100
// without lines of which nothing is known.
std::vector<std::string> HeaderLines(const train::Job& job, const watch::JobFacts& facts);

// The outputs of a program as its author calls them.
class OutputColumns {
 public:
  explicit OutputColumns(const train::Job& job);

  // "loss 2.30259  accuracy 0.100000": the loss first, then the other scalars that are no state, padded to the widest
  // number of each so far.
  std::string Text(const trace::StepRecord& step);
  // {"loss": 2.30259, "accuracy": 0.1}; empty where the outputs have these names in the log already.
  std::string Json(const trace::StepRecord& step) const;

 private:
  struct Column {
    std::string name;
    bool is_loss = false;
    size_t width = 0;
  };
  Column* Find(std::string_view logged);

  std::map<std::string, Column, std::less<>> columns_;  // by the names in logs
  size_t loss_width_ = 0;
  bool has_other_names_ = false;
};

// Of the steps of one run.
struct RunTotals {
  watch::JobStatus status;
  absl::Duration wall;
  std::optional<double> last_loss;
  std::optional<std::pair<double, uint64_t>> best_loss;  // and its step
  bool has_ended = true;                                 // else it was stopped
};

// For instance
//   done        100 steps in 12.3 s, 123 ms a step
//   rate        1.04k rows/s  133k tokens/s
//   loss        2.31000, best 2.29000 in step 187
//   sent        1.20 MiB by a rank in a step
// Nothing where no step was done.
std::vector<std::string> SummaryLines(const train::Job& job, const watch::JobFacts& facts, const RunTotals& totals);

}  // namespace sgd::sgdrun
