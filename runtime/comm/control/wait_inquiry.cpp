// Answers come from other processes: ranks that the job does not have are dropped.
#include "runtime/comm/control/wait_inquiry.h"

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

std::vector<RankReport> WaitInquiry::Reports(bool with_beside, const MissingFrom& missing_from) const {
  std::vector<RankReport> reports(answers_.size());
  for (size_t rank = 0; rank < answers_.size(); ++rank) {
    reports[rank].answers = answers_[rank].has_value();
    if (!answers_[rank].has_value()) continue;
    reports[rank].where = answers_[rank]->where;
    for (const RankWait& wait : answers_[rank]->waits) reports[rank].waits.push_back(OfThisJob(wait));
    const auto [among_steps, beside] = answers_[rank]->agreements;
    for (const std::optional<uint64_t>& agreement : {among_steps, with_beside ? beside : std::nullopt}) {
      if (agreement.has_value())
        reports[rank].waits.push_back(
            {.description = "an agreement of all ranks", .awaited = missing_from(*agreement)});
    }
  }
  return reports;
}

std::vector<WaitInquiry::Verdict> WaitInquiry::Decide(const MissingFrom& missing_from) const {
  std::vector<Verdict> verdicts;
  for (const Asker& asker : askers_) {
    const std::vector<RankReport> reports = Reports(asker.wait.is_beside, missing_from);
    verdicts.push_back({asker.rank, FindBlame(asker.rank, OfThisJob(asker.wait), reports)});
  }
  return verdicts;
}

}  // namespace sgd::comm
