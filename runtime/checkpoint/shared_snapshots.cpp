// Alternates between two copies.
#include "runtime/checkpoint/shared_snapshots.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sgd::checkpoint {

absl::StatusOr<std::unique_ptr<SharedSnapshots>> SharedSnapshots::Create(const std::vector<data::TensorSpec>& specs,
                                                                         uint32_t ranks, TrainingPoint point) {
  auto snapshots = std::unique_ptr<SharedSnapshots>(new SharedSnapshots(std::move(point)));
  for (std::unique_ptr<SharedSnapshot>& copy : snapshots->copies_) {
    absl::StatusOr<std::unique_ptr<SharedSnapshot>> made = SharedSnapshot::Create(specs, ranks);
    if (!made.ok()) return made.status();
    copy = *std::move(made);
  }
  return snapshots;
}

absl::StatusOr<SharedSnapshot*> SharedSnapshots::Take(uint64_t steps_done, const std::vector<LocalTensor>& state,
                                                      const Patience& patience) {
  SharedSnapshot& copy = *copies_[next_];
  next_ = 1 - next_;
  // A slower rank may still fill the other copy. The older one may only go once that is whole.
  if (absl::Status status = copies_[next_]->WaitUntilWhole(patience); !status.ok()) return status;
  copy.Fill(steps_done, state);
  return &copy;
}

void SharedSnapshots::ForgetNewest() {
  const bool is_second = copies_[1]->steps_done() > copies_[0]->steps_done();
  copies_[is_second ? 1 : 0]->Clear();
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
