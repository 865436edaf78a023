// Finds ranks that the others wait for, from samples of all ranks. Plain data: it neither measures nor talks.
//
// Ranks of one group run the same program over shards of equal size, so that their own times should be equal: a rank is
// late in a step if it takes longer than the median of its group. The only rank of a group,
// as of a pipeline stage, is compared with its own first steps, since stages may differ. A rank is a straggler if it is
// late in 14 steps in a row, or more than three times as often as not until that many steps are left over: noise, by
// which a rank is late in a quarter of the steps, gets there once in 10^8 steps. Over these steps its peers must wait
// for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/watch/step_sample.h"

namespace sgd::watch {

enum class StragglerCause { kCompute, kInput, kCheckpoint };
const char* CauseName(StragglerCause cause);

struct Straggler {
  uint32_t rank = 0;
  uint64_t step = 0;   // by which it was found
  double seconds = 0;  // that a step would be shorter if the rank were like its peers
  double share = 0;    // of a step, 0 to 1
  StragglerCause cause = StragglerCause::kCompute;
  bool lacks_cores = false;  // its threads were ready to run and had no core: other processes had them
};

// Compares ranks step by step.
class RankComparison {
 public:
  static constexpr size_t kWindow = 16;       // steps
  static constexpr int kScore = 14;           // of a straggler: a late step adds one
  static constexpr int kPenalty = 3;          // another one takes so much away
  static constexpr float kLateFactor = 1.1f;  // of the time of its group; more where times vary more
  static constexpr size_t kHistory = 32;      // steps that later ones of a lone rank are compared with

  // `group_of` by rank; groups are numbered from 0.
  explicit RankComparison(const std::vector<uint32_t>& group_of);

  // A step of all ranks, by rank.
  void Add(const std::vector<StepSample>& samples);

  // Whether the rank is late in most steps and the others wait for it, and for how many seconds it has been late.
  bool IsSlow(uint32_t rank) const;
  double slow_seconds(uint32_t rank) const { return tracks_[rank].slow_seconds; }
  // Whether it has not been late in a hundred steps, but for single ones.
  bool KeepsUp(uint32_t rank) const;
  // Cost and cause of a slow rank, by the medians of the window.
  Straggler Describe(uint32_t rank) const;

 private:
  // How far a rank was behind its reference in a step.
  struct Lag {
    bool is_late = false;
    float own = 0, excess = 0;
    float extra_wait = 0;                          // of its peers
    float compute = 0, input = 0, checkpoint = 0;  // more than the reference
    float cost = 0, total = 0;
  };
  struct Track {
    std::array<Lag, kWindow> lags;  // a ring
    uint64_t steps = 0;
    int score = 0;
    double slow_seconds = 0;
    uint64_t on_time = 0;             // steps in which the score has been low
    std::vector<StepSample> history;  // of a lone rank
    StepSample usual;                 // their medians
  };

  void AddGroup(const std::vector<uint32_t>& group, const std::vector<StepSample>& samples);
  void AddLone(uint32_t rank, const std::vector<StepSample>& samples);
  float ExtraWaitOfOthers(uint32_t rank, const std::vector<StepSample>& samples) const;
  // Whether the rank takes longer than its reference for more than noise.
  bool IsLate(uint32_t rank, const StepSample& sample, float reference) const;
  // The median deviation of a rank's own times in the window, as a share of their median.
  float SpreadOf(uint32_t rank) const;
  void Note(uint32_t rank, const Lag& lag);

  std::vector<std::vector<uint32_t>> groups_;
  std::vector<Track> tracks_;  // by rank
};

// Time in which threads were ready to run and had no core is compared apart, and counts only when it has gone on for
// half a minute: other programs come and go.
class StragglerFinder {
 public:
  static constexpr uint64_t kFirstSteps = 2;  // not looked at: they touch memory for the first time
  static constexpr double kLackingSeconds = 30;

  explicit StragglerFinder(const std::vector<uint32_t>& group_of);

  // Samples of a rank come with rising steps; those that have come before are ignored.
  void Add(uint32_t rank, const StepSample& sample);

  // Those found since the last call. A rank is found again only after it has kept up for a hundred steps.
  std::vector<Straggler> Take();

 private:
  struct Row {
    std::vector<StepSample> samples;  // by rank
    size_t count = 0;
  };
  void Compare(uint64_t step, const std::vector<StepSample>& samples);

  RankComparison with_delays_, without_delays_;
  std::vector<uint64_t> newest_;  // by rank: steps below it have come
  std::map<uint64_t, Row> rows_;  // that miss samples
  std::vector<bool> is_found_;    // by rank
  std::vector<Straggler> found_;
};

}  // namespace sgd::watch
