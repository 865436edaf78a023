// A job's status for people: a block of lines for a terminal, or one line.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "runtime/watch/job_status.h"

namespace sgd::watch {

// The losses of the last steps, at most kPoints of them: neighbours are averaged as they become more.
class LossHistory {
 public:
  static constexpr size_t kPoints = 48;

  // Steps that were added before are ignored.
  void Add(uint64_t steps_done, std::optional<double> loss);
  // A character for each point, from the least to the greatest loss; "!" where it was not finite.
  std::string Sparkline() const;

 private:
  struct Point {
    double sum = 0;
    uint64_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
  };
  void Halve();

  std::vector<Point> points_;
  uint64_t per_point_ = 1;
  uint64_t steps_done_ = 0;
};

// Lines without line ends, for instance
//   step 417/1000  [=============                   ]  left 0:12
//   time    20.1 ms median, 18.7 ms least  6.4k rows/s  1.2M tokens/s  MFU 41.0 %
//   loss    2.31  ▇▆▅▃▂▁
//   waits   3.1 ms of a step in collectives; rank 3 is slowest, by 900 us
//   memory  1.20 GiB in rank 3, the largest of 4
//   saves   2, which held up steps for 700 ms
std::vector<std::string> StatusLines(const JobStatus& status, const LossHistory& losses);

// "6.4k rows/s  1.2M tokens/s", by the median step; empty where rows are not known.
std::string RatesText(const JobStatus& status);

// "left 0:12", by the median step; empty where nothing is left or no step is done.
std::string LeftText(const JobStatus& status);

// "20.1 ms  6.4k rows/s  loss 2.31  left 0:12".
std::string StatusLine(const JobStatus& status);

}  // namespace sgd::watch
