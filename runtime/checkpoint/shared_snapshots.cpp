// Alternates between two copies.
#include "runtime/checkpoint/shared_snapshots.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sgd::checkpoint {

absl::StatusOr<std::unique_ptr<SharedSnapshots>> SharedSnapshots::Create(const std::vector<data::TensorSpec>& specs,
                                                                         CopyLayout layout, TrainingPoint point) {
  auto snapshots = std::unique_ptr<SharedSnapshots>(
      new SharedSnapshots(std::move(point), std::make_shared<const CopyLayout>(std::move(layout))));
  for (std::unique_ptr<SharedSnapshot>& copy : snapshots->copies_) {
    absl::StatusOr<std::unique_ptr<SharedSnapshot>> made = SharedSnapshot::Create(specs, snapshots->layout_);
    if (!made.ok()) return made.status();
    copy = *std::move(made);
  }
  return snapshots;
}

absl::StatusOr<SharedSnapshot*> SharedSnapshots::Take(uint64_t steps_done, uint32_t rank,
                                                      const std::vector<LocalTensor>& state, const Patience& patience) {
  SharedSnapshot& copy = *copies_[next_];
  next_ = 1 - next_;
  // A slower rank may still fill the other copy. The older one may only go once that is whole.
  if (absl::Status status = copies_[next_]->WaitUntilWhole(patience); !status.ok()) return status;
  copy.Fill(steps_done, state, rank);
  return &copy;
}

void SharedSnapshots::ForgetNewest() {
  const bool is_second = copies_[1]->steps_done() > copies_[0]->steps_done();
  copies_[is_second ? 1 : 0]->Clear();
}

std::vector<std::string> SharedSnapshots::ForgetDamaged(bool is_one_enough) {
  std::vector<std::string> damages;
  std::vector<uint64_t> newest_first = steps();
  std::ranges::reverse(newest_first);
  for (const uint64_t step : newest_first) {
    const auto at = std::ranges::find(copies_, std::optional(step),
                                      [](const std::unique_ptr<SharedSnapshot>& copy) { return copy->steps_done(); });
    SharedSnapshot& copy = **at;
    const std::string name = absl::StrCat("the copy of the state in memory after ", step, " steps");
    if (const std::optional<std::string> damage = copy.FindDamage(/*of_others=*/false)) {
      damages.push_back(absl::StrCat(name, " has changed: ", *damage, "; it is not used"));
      copy.Clear();
      continue;
    }
    if (const std::optional<std::string> damage =
            copy.HasOtherHost(step) ? copy.FindDamage(/*of_others=*/true) : std::nullopt) {
      damages.push_back(absl::StrCat(name, " has changed: ", *damage, "; what it has of another host is not used"));
      copy.ForgetOtherHost();
    }
    if (is_one_enough) break;
  }
  return damages;
}

std::vector<uint64_t> SharedSnapshots::steps() const {
  std::vector<uint64_t> steps;
  for (const std::unique_ptr<SharedSnapshot>& copy : copies_) {
    if (const std::optional<uint64_t> step = copy->steps_done()) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

std::vector<uint64_t> SharedSnapshots::StepsOfOtherHost() const {
  std::vector<uint64_t> steps;
  for (const std::unique_ptr<SharedSnapshot>& copy : copies_) {
    const std::optional<uint64_t> step = copy->steps_done();
    if (step && copy->HasOtherHost(*step)) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

absl::StatusOr<data::SafetensorsFile> SharedSnapshots::Open(uint64_t step) const {
  for (const std::unique_ptr<SharedSnapshot>& copy : copies_) {
    if (copy->steps_done() == step) return data::SafetensorsFile::Open(copy->path());
  }
  return absl::NotFoundError(absl::StrCat("there is no whole copy of the state after ", step, " steps in memory"));
}

void SharedSnapshots::StartOver(std::optional<uint64_t> step) {
  next_ = 0;
  for (size_t i = 0; i < copies_.size(); ++i) {
    if (step && copies_[i]->steps_done() == step) {
      next_ = 1 - i;
    } else {
      copies_[i]->Clear();
    }
  }
}

}  // namespace sgd::checkpoint
