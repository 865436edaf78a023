// Rank 0's question to all ranks which of them waits for which, and its decision who is at fault, for the ranks whose
// deadline has passed. Plain data; the control channel carries question, answers and verdicts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/comm/control/blame.h"
#include "runtime/comm/control/control_message.h"

namespace sgd::comm {

class WaitInquiry {
 public:
  // Asks `ranks` ranks; those that have not answered by `end` have stopped.
  WaitInquiry(uint64_t number, uint32_t ranks, absl::Time end) : number_(number), end_(end), answers_(ranks) {}

  uint64_t number() const { return number_; }
  absl::Time end() const { return end_; }

  // Rank `asker` wants to know who is at fault for `wait`. A rank may ask once more with another wait.
  void AddAsker(uint32_t asker, RankWait wait) { askers_.push_back({asker, std::move(wait)}); }
  // Nothing when the answer could not be read.
  void SetAnswer(uint32_t rank, std::optional<WaitsMessage> answer) { answers_[rank] = std::move(answer); }
  // The rank has ended without an error: it is not at fault for not answering.
  void SetDone(uint32_t rank);
  bool HasAllAnswers() const;

  struct Verdict {
    uint32_t asker = 0;
    Blame blame;
  };
  // Gives the ranks that have not come to the agreement of a number.
  using MissingFrom = std::function<std::vector<uint32_t>(uint64_t agreement)>;
  // For each asker.
  std::vector<Verdict> Decide(const MissingFrom& missing_from) const;

 private:
  struct Asker {
    uint32_t rank = 0;
    RankWait wait;
  };
  RankWait OfThisJob(RankWait wait) const;
  std::vector<RankReport> Reports(bool with_beside, const MissingFrom& missing_from) const;

  uint64_t number_;
  absl::Time end_;
  std::vector<Asker> askers_;
  std::vector<std::optional<WaitsMessage>> answers_;  // by rank
};

}  // namespace sgd::comm
