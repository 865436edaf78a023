// Answers come from other processes: ranks that the job does not have are dropped.
#include "runtime/comm/wait_inquiry.h"

#include <algorithm>

namespace sgd::comm {

void WaitInquiry::SetDone(uint32_t rank) {
  if (!answers_[rank].has_value()) answers_[rank].emplace();
}

bool WaitInquiry::HasAllAnswers() const {
  return std::ranges::all_of(answers_, [](const auto& answer) { return answer.has_value(); });
}

RankWait WaitInquiry::OfThisJob(RankWait wait) const {
  std::erase_if(wait.awaited, [&](uint32_t rank) { return rank >= answers_.size(); });
  return wait;
}

std::vector<WaitInquiry::Verdict> WaitInquiry::Decide(
    const std::function<std::vector<uint32_t>(uint64_t agreement)>& missing_from) const {
  std::vector<RankReport> reports(answers_.size());
  for (size_t rank = 0; rank < answers_.size(); ++rank) {
    reports[rank].answers = answers_[rank].has_value();
    if (!answers_[rank].has_value()) continue;
    for (const RankWait& wait : answers_[rank]->waits) reports[rank].waits.push_back(OfThisJob(wait));
    if (const std::optional<uint64_t> agreement = answers_[rank]->agreement)
      reports[rank].waits.push_back({"an agreement of all ranks", missing_from(*agreement)});
  }
  std::vector<Verdict> verdicts;
  for (const Asker& asker : askers_)
    verdicts.push_back({asker.rank, FindBlame(asker.rank, OfThisJob(asker.wait), reports)});
  return verdicts;
}

}  // namespace sgd::comm
