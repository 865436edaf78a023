// Two files in memory, and a word for each that says how far ranks are with it.
#include "runtime/checkpoint/shared_snapshots.h"

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::checkpoint {
namespace {

constexpr uint64_t kMostRanks = uint64_t{1} << 20;
constexpr uint64_t kSharedBytes = 4096;
constexpr size_t kCopies = 2;
constexpr absl::Duration kPause = absl::Microseconds(20);

uint64_t ProgressOf(uint64_t steps_done, uint64_t ranks) { return (steps_done + 1) * kMostRanks + ranks; }

}  // namespace

absl::StatusOr<std::unique_ptr<SharedSnapshots>> SharedSnapshots::Create(const std::vector<data::TensorSpec>& specs,
                                                                         uint32_t ranks, TrainingPoint point) {
  auto snapshots = std::unique_ptr<SharedSnapshots>(new SharedSnapshots(ranks, std::move(point)));
  void* shared = mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return data::SystemError("the copy of the state in memory", "map", errno);
  snapshots->shared_ = shared;
  for (size_t i = 0; i < kCopies; ++i) {
    absl::StatusOr<data::TensorFileWriter> image = data::TensorFileWriter::CreateInMemory(specs);
    if (!image.ok()) return image.status();
    // Apart, as ranks write to them.
    void* place = static_cast<std::byte*>(shared) + i * kSharedBytes / kCopies;
    snapshots->copies_.push_back({*std::move(image), new (place) std::atomic<uint64_t>(0)});
  }
  return snapshots;
}

SharedSnapshots::~SharedSnapshots() {
  if (shared_ != nullptr) munmap(shared_, kSharedBytes);
}

uint64_t SharedSnapshots::bytes() const {
  uint64_t bytes = 0;
  for (const Copy& copy : copies_) bytes += copy.image.image().size();
  return bytes;
}

bool SharedSnapshots::IsWhole(const Copy& copy) const {
  const uint64_t progress = copy.progress->load(std::memory_order_acquire);
  return progress != 0 && progress % kMostRanks == ranks_;
}

absl::Status SharedSnapshots::Take(uint64_t steps_done, const std::vector<LocalTensor>& state,
                                   const std::function<absl::Status()>& poll, absl::Duration deadline) {
  Copy& copy = copies_[std::exchange(next_, (next_ + 1) % kCopies)];
  const Copy& other = copies_[next_];
  // A slower rank may still fill the other one. This one, which is older, may only go once that is whole.
  const absl::Time end = SteadyNow() + deadline;
  while (!IsWhole(other) && other.progress->load(std::memory_order_relaxed) != 0) {
    if (absl::Status status = poll(); !status.ok()) return status;
    if (SteadyNow() > end) {
      return absl::DeadlineExceededError(
          absl::StrCat("the copy of the state in memory: not all ranks have filled theirs within ",
                       absl::FormatDuration(deadline)));
    }
    absl::SleepFor(kPause);
  }
  // Whoever comes first says that this copy is of other steps from now on.
  uint64_t seen = copy.progress->load(std::memory_order_acquire);
  while (seen / kMostRanks != steps_done + 1 &&
         !copy.progress->compare_exchange_weak(seen, ProgressOf(steps_done, 0), std::memory_order_acq_rel)) {
  }
  for (size_t i = 0; i < state.size(); ++i) {
    const LocalTensor& tensor = state[i];
    if (tensor.replicas == 0 || tensor.bytes.empty()) continue;
    tensor.shard.CopyOutPart(tensor.replica, tensor.replicas, tensor.bytes, copy.image.Bytes(i));
  }
  copy.progress->fetch_add(1, std::memory_order_acq_rel);
  return absl::OkStatus();
}

std::optional<size_t> SharedSnapshots::Newest() const {
  std::optional<size_t> newest;
  for (size_t i = 0; i < copies_.size(); ++i) {
    if (IsWhole(copies_[i]) && (!newest || *copies_[i].progress > *copies_[*newest].progress)) newest = i;
  }
  return newest;
}

std::optional<TrainingPoint> SharedSnapshots::newest() const {
  const std::optional<size_t> newest = Newest();
  if (!newest) return std::nullopt;
  TrainingPoint point = point_;
  point.step = *copies_[*newest].progress / kMostRanks - 1;
  return point;
}

absl::StatusOr<data::SafetensorsFile> SharedSnapshots::OpenNewest() const {
  const std::optional<size_t> newest = Newest();
  if (!newest) return absl::NotFoundError("there is no whole copy of the state in memory");
  return data::SafetensorsFile::Open(copies_[*newest].image.PathInMemory());
}

void SharedSnapshots::StartOver() {
  const std::optional<size_t> newest = Newest();
  for (size_t i = 0; i < copies_.size(); ++i) {
    if (i != newest) copies_[i].progress->store(0);
  }
  next_ = newest ? (*newest + 1) % kCopies : 0;
}

}  // namespace sgd::checkpoint
