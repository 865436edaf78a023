// Finds ranks that the others wait for, from samples of all ranks. Plain data: it neither measures nor talks.
//
// Ranks of one group run the same program over shards of equal size, so that their own times should be equal: the
// lateness of a rank in a step is the logarithm of its time over the median of the others of its group. The only rank
// of a group, as of a pipeline stage, is compared with its own first steps, since stages may differ. A sequential test
// (CUSUM: Page, "Continuous inspection schemes", 1954) adds up how much more likely a lateness is of a rank that is
// slow than of one that is not, under the noise of the rank itself. Quiet ranks are told apart within a dozen steps,
// noisy ones take as many more as it needs for one false alarm in 10^8 steps. Over these steps the peers must wait for
// the rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/watch/step_sample.h"

namespace sgd::watch {

enum class StragglerCause { kCompute, kInput, kCheckpoint };
const char* CauseName(StragglerCause cause);

struct Straggler {
  uint32_t rank = 0;
  uint64_t step = 0;   // by which it was found
  double seconds = 0;  // that it takes longer than its peers in a step
  double share = 0;    // of a step, 0 to 1
  StragglerCause cause = StragglerCause::kCompute;
  bool lacks_cores = false;  // its threads were ready to run and had no core: other processes had them
  bool has_lasted = false;   // it was found before, and has held up the others since
  bool is_replaced = false;  // of one that has lasted: its process is started again elsewhere,
  std::string reason;        // or why not
};

// The lateness of a rank over its steps: how much it scatters, and whether it is more than that.
class LatenessTest {
 public:
  static constexpr size_t kWindow = 64;  // steps by which the noise is measured

  void Add(float lateness);
  bool is_slow() const;
  // Whether little speaks for it being slow.
  bool is_low() const;

 private:
  // The variance of the lateness: that between neighbours and, where it is more, that of means of eight steps, which
  // noise has that goes on for several steps. A change for good, as of a rank that becomes slow, is in neither.
  float Variance() const;
  float At(size_t age) const { return ring_[(count_ - 1 - age) % kWindow]; }

  std::array<float, kWindow> ring_ = {};
  uint64_t count_ = 0;
  float variance_ = 0;
  float score_ = 0;
  uint32_t late_steps_ = 0;  // less those that are not late; at least zero, at most as many as a slow rank needs
};

// Compares ranks step by step.
class RankComparison {
 public:
  static constexpr size_t kWindow = 16;   // steps, by which cost and cause are told
  static constexpr size_t kHistory = 32;  // steps that later ones of a lone rank are compared with

  // `group_of` by rank; groups are numbered from 0. `contention` of the delay that a rank has more than others is not
  // held against it.
  RankComparison(const std::vector<uint32_t>& group_of, float contention);

  // A step of all ranks, by rank.
  void Add(const std::vector<StepSample>& samples);

  // Whether the rank is slow and the others wait for it, and for how many seconds it may have been slow.
  bool IsSlow(uint32_t rank) const;
  double slow_seconds(uint32_t rank) const { return tracks_[rank].slow_seconds; }
  // Whether nothing has spoken for it being slow in a hundred steps.
  bool KeepsUp(uint32_t rank) const;
  // Cost and cause of a slow rank, by the medians of the window.
  Straggler Describe(uint32_t rank) const;

 private:
  // How far a rank was behind its reference in a step.
  struct Lag {
    float excess = 0;                              // of its own time
    float extra_wait = 0;                          // of its peers
    float compute = 0, input = 0, checkpoint = 0;  // more than the reference
    float total = 0;
  };
  struct Track {
    std::array<Lag, kWindow> lags;  // a ring
    uint64_t steps = 0;
    LatenessTest test;
    double slow_seconds = 0;
    uint64_t on_time = 0;             // steps in which the test has been low
    std::vector<StepSample> history;  // of a lone rank
    StepSample usual;                 // their medians
  };

  void AddGroup(const std::vector<uint32_t>& group, const std::vector<StepSample>& samples);
  void AddLone(uint32_t rank, const std::vector<StepSample>& samples);
  float ExtraWaitOfOthers(uint32_t rank, const std::vector<StepSample>& samples) const;
  // `reference` is the time that the rank would take like its peers.
  void Note(uint32_t rank, const StepSample& sample, float reference, const Lag& lag);

  const float contention_;
  float least_delay_ = 0;  // of a rank in the step
  std::vector<std::vector<uint32_t>> groups_;
  std::vector<Track> tracks_;  // by rank
};

// Time in which threads were ready to run and had no core is compared apart, and counts only when it has gone on for
// half a minute: other programs come and go. A rank that runs, but slowly, must do so for some seconds: neighbours of a
// virtual machine, and clocks of cores, change from second to second.
class StragglerFinder {
 public:
  static constexpr uint64_t kFirstSteps = 2;  // not looked at: they touch memory for the first time
  static constexpr double kLackingSeconds = 30;
  static constexpr double kRunningSlowlySeconds = 10;
  static constexpr uint64_t kLastingSteps = 50;

  explicit StragglerFinder(const std::vector<uint32_t>& group_of);

  // Samples of a rank come with rising steps; those that have come before are ignored.
  void Add(uint32_t rank, const StepSample& sample);

  // Those found since the last call. A rank is found again only after it has kept up for a hundred steps; one that has
  // not comes as one that has lasted every kLastingSteps.
  std::vector<Straggler> Take();

 private:
  struct Row {
    std::vector<StepSample> samples;  // by rank
    size_t count = 0;
  };
  void Compare(uint64_t step, const std::vector<StepSample>& samples);
  void Judge(uint32_t rank, uint64_t step);
  void EqualSpeeds(std::vector<StepSample>& samples);

  RankComparison with_delays_, without_delays_;
  RankComparison at_equal_speed_;  // without delays, and as if the cores of a group were equally fast
  std::vector<uint32_t> group_of_;
  std::vector<uint64_t> newest_;  // by rank: steps below it have come
  std::map<uint64_t, Row> rows_;  // that miss samples
  // By rank: the step in which it was found, or has lasted; nothing while it keeps up.
  std::vector<std::optional<uint64_t>> found_in_;
  std::vector<bool> is_alone_;        // in its group
  std::vector<float> least_on_core_;  // in a step so far
  std::vector<Straggler> found_;
};

}  // namespace sgd::watch
