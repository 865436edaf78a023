// A file in memory, and a page that says how far ranks are with it.
#include "runtime/checkpoint/shared_snapshot.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::checkpoint {
namespace {

constexpr uint64_t kMostRanks = uint64_t{1} << 20;
constexpr absl::Duration kPause = absl::Microseconds(20);

template <typename Condition>
absl::Status WaitUntil(const Condition& is_met, const Patience& patience, const char* what) {
  const absl::Time end = SteadyNow() + patience.deadline;
  while (!is_met()) {
    if (absl::Status status = patience.poll(); !status.ok()) return status;
    if (SteadyNow() > end) {
      return absl::DeadlineExceededError(
          absl::StrCat("the copy of the state in memory: ", what, " within ", absl::FormatDuration(patience.deadline)));
    }
    absl::SleepFor(kPause);
  }
  return absl::OkStatus();
}

// The first rank that comes marks the copy as one of other steps.
void Mark(uint64_t steps_done, std::atomic<uint64_t>& progress) {
  uint64_t seen = progress.load(std::memory_order_acquire);
  while (seen / kMostRanks != steps_done + 1 &&
         !progress.compare_exchange_weak(seen, (steps_done + 1) * kMostRanks, std::memory_order_acq_rel)) {
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedSnapshot>> SharedSnapshot::Create(const std::vector<data::TensorSpec>& specs,
                                                                       uint32_t ranks) {
  return Make(specs, StateMetadata(), ranks);
}

absl::StatusOr<std::unique_ptr<SharedSnapshot>> SharedSnapshot::Create(FilePlan plan, uint32_t ranks) {
  absl::StatusOr<std::unique_ptr<SharedSnapshot>> snapshot = Make(plan.specs, plan.metadata, ranks);
  if (snapshot.ok()) (*snapshot)->pieces_ = std::move(plan.pieces);
  return snapshot;
}

absl::StatusOr<std::unique_ptr<SharedSnapshot>> SharedSnapshot::Make(const std::vector<data::TensorSpec>& specs,
                                                                     const data::Metadata& metadata, uint32_t ranks) {
  absl::StatusOr<data::TensorFileWriter> image = data::TensorFileWriter::CreateInMemory(specs, metadata);
  if (!image.ok()) return image.status();
  auto snapshot = std::unique_ptr<SharedSnapshot>(new SharedSnapshot(ranks, *std::move(image)));
  void* shared = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return data::SystemError("the copy of the state in memory", "map", errno);
  snapshot->shared_ = new (shared) Shared();
  return snapshot;
}

SharedSnapshot::~SharedSnapshot() {
  if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
}

void SharedSnapshot::Fill(uint64_t steps_done, const std::vector<LocalTensor>& state) {
  Mark(steps_done, shared_->progress);
  for (size_t i = 0; i < state.size(); ++i) {
    const LocalTensor& tensor = state[i];
    if (tensor.replicas == 0 || tensor.bytes.empty()) continue;
    tensor.shard.CopyOutPart(tensor.replica, tensor.replicas, tensor.bytes, image_.Bytes(i));
  }
  EndFill();
}

void SharedSnapshot::FillPieces(uint64_t steps_done, uint32_t rank, const std::vector<LocalTensor>& state) {
  Mark(steps_done, shared_->progress);
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const FilePlan::Piece& piece = pieces_[i];
    if (piece.rank != rank) continue;
    const std::byte* from = state[piece.tensor].bytes.data();
    std::byte* to = image_.Bytes(i).data();
    data::ForEachCommonRun(state[piece.tensor].shard, piece.region,
                           [&](uint64_t in_shard, uint64_t in_piece, uint64_t bytes) {
                             std::memcpy(to + in_piece, from + in_shard, bytes);
                           });
  }
  EndFill();
}

void SharedSnapshot::AddOfOtherHost(uint64_t steps_done) {
  Mark(steps_done, shared_->received);
  shared_->received.fetch_add(1, std::memory_order_acq_rel);
}

bool SharedSnapshot::HasOtherHost(uint64_t steps_done) const {
  return shared_->received.load(std::memory_order_acquire) == (steps_done + 1) * kMostRanks + ranks_;
}

std::optional<uint64_t> SharedSnapshot::steps_done() const {
  const uint64_t progress = shared_->progress.load(std::memory_order_acquire);
  if (progress == 0 || progress % kMostRanks != ranks_) return std::nullopt;
  return progress / kMostRanks - 1;
}

bool SharedSnapshot::is_empty() const { return shared_->progress.load(std::memory_order_relaxed) == 0; }

absl::Status SharedSnapshot::WaitUntilWhole(const Patience& patience) const {
  return WaitUntil([&] { return is_empty() || steps_done().has_value(); }, patience, "not all ranks have filled it");
}

absl::Status SharedSnapshot::WaitUntilReleased(uint64_t steps_done, const Patience& patience) const {
  return WaitUntil(
      [&] {
        const uint64_t begun = shared_->progress.load(std::memory_order_acquire) / kMostRanks;
        return begun == steps_done + 1 || begun == shared_->released.load(std::memory_order_acquire);
      },
      patience, "the save before has not ended");
}

void SharedSnapshot::Release() {
  shared_->released.store(shared_->progress.load(std::memory_order_acquire) / kMostRanks, std::memory_order_release);
}

void SharedSnapshot::Clear() {
  shared_->progress.store(0);
  shared_->released.store(0);
  shared_->received.store(0);
}

}  // namespace sgd::checkpoint
