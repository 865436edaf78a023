// Alternates between two copies.
#include "runtime/checkpoint/shared_snapshots.h"

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

absl::Status SharedSnapshots::Take(uint64_t steps_done, const std::vector<LocalTensor>& state,
                                   const Patience& patience) {
  SharedSnapshot& copy = *copies_[next_];
  next_ = 1 - next_;
  // A slower rank may still fill the other copy. The older one may only go once that is whole.
  if (absl::Status status = copies_[next_]->WaitUntilWhole(patience); !status.ok()) return status;
  copy.Fill(steps_done, state);
  return absl::OkStatus();
}

std::optional<size_t> SharedSnapshots::Newest() const {
  const std::optional<uint64_t> first = copies_[0]->steps_done(), second = copies_[1]->steps_done();
  if (!first && !second) return std::nullopt;
  return second > first ? 1 : 0;
}

std::optional<TrainingPoint> SharedSnapshots::newest() const {
  const std::optional<size_t> newest = Newest();
  if (!newest) return std::nullopt;
  TrainingPoint point = point_;
  point.step = *copies_[*newest]->steps_done();
  return point;
}

absl::StatusOr<data::SafetensorsFile> SharedSnapshots::OpenNewest() const {
  const std::optional<size_t> newest = Newest();
  if (!newest) return absl::NotFoundError("there is no whole copy of the state in memory");
  return data::SafetensorsFile::Open(copies_[*newest]->path());
}

void SharedSnapshots::ForgetNewest() {
  const bool is_second = copies_[1]->steps_done() > copies_[0]->steps_done();
  copies_[is_second ? 1 : 0]->Clear();
}

void SharedSnapshots::StartOver() {
  const std::optional<size_t> newest = Newest();
  for (size_t i = 0; i < copies_.size(); ++i) {
    if (i != newest) copies_[i]->Clear();
  }
  next_ = newest ? 1 - *newest : 0;
}

}  // namespace sgd::checkpoint
