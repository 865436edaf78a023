// A file in memory, and a page that says how far ranks are with it.
#include "runtime/checkpoint/shared_snapshot.h"

#include <sys/mman.h>

#include <algorithm>
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

Digest::Value ChecksumOf(const LocalTensor& tensor, std::span<const std::byte> bytes, bool is_global) {
  Digest digest;
  uint64_t begin = 0, end = 0;  // of runs that follow one another
  tensor.shard.ForEachRunOfPart(tensor.replica, tensor.replicas,
                                [&](uint64_t in_global, uint64_t in_shard, uint64_t length) {
                                  const uint64_t at = is_global ? in_global : in_shard;
                                  if (at != end) {
                                    digest.Add(bytes.subspan(begin, end - begin));
                                    begin = at;
                                  }
                                  end = at + length;
                                });
  digest.Add(bytes.subspan(begin, end - begin));
  return digest.value();
}

bool CopyLayout::operator==(const CopyLayout& other) const {
  const auto are_equal = [](const LocalTensor& a, const LocalTensor& b) {
    return a.name == b.name && a.shard.type() == b.shard.type() && a.shard.begin() == b.shard.begin() &&
           a.shard.has_rows() == b.shard.has_rows() && a.replica == b.replica && a.replicas == b.replicas;
  };
  const auto are_alike = [&](const auto& a, const auto& b) { return std::ranges::equal(a, b, are_equal); };
  return first_rank == other.first_rank && std::ranges::equal(own, other.own, are_alike) &&
         std::ranges::equal(others, other.others, are_alike);
}

absl::StatusOr<std::unique_ptr<SharedSnapshot>> SharedSnapshot::Create(const std::vector<data::TensorSpec>& specs,
                                                                       uint32_t ranks) {
  return Make(specs, StateMetadata(), ranks);
}

absl::StatusOr<std::unique_ptr<SharedSnapshot>> SharedSnapshot::Create(const std::vector<data::TensorSpec>& specs,
                                                                       std::shared_ptr<const CopyLayout> layout) {
  const auto ranks = static_cast<uint32_t>(layout->own.size());
  absl::StatusOr<std::unique_ptr<SharedSnapshot>> snapshot = Make(specs, StateMetadata(), ranks);
  if (!snapshot.ok()) return snapshot;
  (*snapshot)->layout_ = std::move(layout);
  const size_t count = 2 * ranks * specs.size();
  if (count == 0) return snapshot;
  const size_t bytes = count * sizeof(Digest::Value);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return data::SystemError("the checksums of the state in memory", "map", errno);
  (*snapshot)->checksums_ = {static_cast<Digest::Value*>(memory), count};
  return snapshot;
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
  if (!checksums_.empty()) munmap(checksums_.data(), checksums_.size_bytes());
}

Digest::Value& SharedSnapshot::Checksum(bool of_others, uint32_t rank, size_t tensor) const {
  return checksums_[((of_others ? ranks_ : 0) + rank) * specs().size() + tensor];
}

void SharedSnapshot::Fill(uint64_t steps_done, const std::vector<LocalTensor>& state, uint32_t rank) {
  Mark(steps_done, shared_->progress);
  for (size_t i = 0; i < state.size(); ++i) {
    const LocalTensor& tensor = state[i];
    if (tensor.replicas == 0) continue;
    if (!tensor.bytes.empty()) tensor.shard.CopyOutPart(tensor.replica, tensor.replicas, tensor.bytes, image_.Bytes(i));
    // Of the source: the memory of the copy may be what is at fault.
    if (layout_ != nullptr) Checksum(false, rank, i) = ChecksumOf(tensor, tensor.bytes, /*is_global=*/false);
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

void SharedSnapshot::SetChecksumOfOther(uint32_t rank, size_t tensor, const Digest::Value& checksum) {
  if (layout_ != nullptr) Checksum(true, rank, tensor) = checksum;
}

std::optional<std::string> SharedSnapshot::FindDamage(bool of_others) const {
  if (layout_ == nullptr) return std::nullopt;
  const auto& ranks = of_others ? layout_->others : layout_->own;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    for (size_t i = 0; i < ranks[rank].size(); ++i) {
      const LocalTensor& tensor = ranks[rank][i];
      if (tensor.replicas == 0) continue;
      const Digest::Value found = ChecksumOf(tensor, image_.Bytes(i), /*is_global=*/true);
      if (found == Checksum(of_others, rank, i)) continue;
      return absl::StrCat("tensor ", data::QuotedName(tensor.name), " is not what rank ", layout_->first_rank + rank,
                          of_others ? " has received for it" : " has put there");
    }
  }
  return std::nullopt;
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
