// A copy of a job's state in memory that the ranks of one host share with the process that has started them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/digest.h"
#include "runtime/checkpoint/file_plan.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::checkpoint {

// How a rank waits for others: `poll` is asked meanwhile and ends the wait by an error, as does `deadline`.
struct Patience {
  std::function<absl::Status()> poll;
  absl::Duration deadline = absl::Seconds(300);
};

// The contents that the ranks of a host put into a copy, for its checksums: by rank and by tensor, without bytes.
struct CopyLayout {
  std::vector<std::vector<LocalTensor>> own;
  // Of another host's state: no parts of tensors that a rank gets nothing of.
  std::vector<std::vector<LocalTensor>> others = {};
  uint32_t first_rank = 0;  // of the host, for messages

  bool operator==(const CopyLayout& other) const;
};

// The checksum of what `tensor` is a part of: `bytes` are the rank's shard, or with `is_global` the whole tensor.
Digest::Value ChecksumOf(const LocalTensor& tensor, std::span<const std::byte> bytes, bool is_global);

// The image of a file of global tensors, which any number of ranks can read. Each rank puts its shards where they
// belong, and replicas share the work.
class SharedSnapshot {
 public:
  // Memory for `specs`, before the ranks are forked. ResourceExhausted where there is not enough.
  static absl::StatusOr<std::unique_ptr<SharedSnapshot>> Create(const std::vector<data::TensorSpec>& specs,
                                                                uint32_t ranks);
  // The same with a checksum of each part of a tensor that a rank puts there.
  static absl::StatusOr<std::unique_ptr<SharedSnapshot>> Create(const std::vector<data::TensorSpec>& specs,
                                                                std::shared_ptr<const CopyLayout> layout);
  // The image of a file of pieces that `ranks` ranks write together, in their order from the first one on.
  static absl::StatusOr<std::unique_ptr<SharedSnapshot>> Create(FilePlan plan, uint32_t ranks);
  ~SharedSnapshot();
  SharedSnapshot(const SharedSnapshot&) = delete;
  SharedSnapshot& operator=(const SharedSnapshot&) = delete;

  const std::vector<data::TensorSpec>& specs() const { return image_.specs(); }
  uint32_t ranks() const { return ranks_; }

  // Of a rank: copies its part of `state`, that after `steps_done` steps. All ranks call it with the same steps, in
  // ascending order, and tensors as in `specs`. Nobody may still need what was there before. `rank` is this one's
  // number in the layout, where there are checksums.
  void Fill(uint64_t steps_done, const std::vector<LocalTensor>& state, uint32_t rank = 0);

  // The same for a file of pieces, by rank `rank` of the job.
  void FillPieces(uint64_t steps_done, uint32_t rank, const std::vector<LocalTensor>& state);
  // Of a rank, after Fill with the same steps: has put what it received of another host's state into tensor(i), the
  // checksums of which SetChecksumOfOther has got before.
  void AddOfOtherHost(uint64_t steps_done);
  void SetChecksumOfOther(uint32_t rank, size_t tensor, const Digest::Value& checksum);
  std::span<std::byte> tensor(size_t index) { return image_.Bytes(index); }

  // Steps done by the state, once all ranks have filled their part; nothing before, and while another state is filled
  // in.
  std::optional<uint64_t> steps_done() const;
  // Whether all ranks have added what they received of another host's state after these steps.
  bool HasOtherHost(uint64_t steps_done) const;
  // Whether nobody has begun to fill it, or WaitUntilWhole would return at once.
  bool is_empty() const;
  absl::Status WaitUntilWhole(const Patience& patience) const;

  // For one reader beside the ranks: a rank waits before it fills in `steps_done` until the state before was released,
  // or another rank has begun.
  absl::Status WaitUntilReleased(uint64_t steps_done, const Patience& patience) const;
  void Release();

  // Of the tensor specs()[index], once all ranks have filled their part.
  std::span<const std::byte> Bytes(size_t index) { return image_.Bytes(index); }
  // The whole file, header included.
  std::span<const std::byte> image() const { return image_.image(); }
  // Opens it for reading, as long as this object lives.
  std::string path() const { return image_.PathInMemory(); }

  // The rest is for while there are no ranks.

  // Compares a whole copy with its checksums. Returns a text about the first part of a tensor that has changed since
  // the copy was filled, or nothing. `of_others`: of another host's state instead.
  std::optional<std::string> FindDamage(bool of_others) const;
  void Clear();
  // Leaves the host's own state alone.
  void ForgetOtherHost() { shared_->received.store(0); }

 private:
  // In memory that all processes share.
  struct Shared {
    // Steps done plus one, times kMostRanks, plus the number of ranks that have filled their part.
    std::atomic<uint64_t> progress;
    std::atomic<uint64_t> released;  // steps done plus one
    std::atomic<uint64_t> received;  // as `progress`, of what ranks have added of another host's state
  };

  SharedSnapshot(uint32_t ranks, data::TensorFileWriter image) : ranks_(ranks), image_(std::move(image)) {}

  static absl::StatusOr<std::unique_ptr<SharedSnapshot>> Make(const std::vector<data::TensorSpec>& specs,
                                                              const data::Metadata& metadata, uint32_t ranks);
  // Of a part that a rank puts there; those of its own host come first.
  Digest::Value& Checksum(bool of_others, uint32_t rank, size_t tensor) const;
  void EndFill() { shared_->progress.fetch_add(1, std::memory_order_acq_rel); }

  const uint32_t ranks_;
  data::TensorFileWriter image_;
  std::vector<FilePlan::Piece> pieces_;  // of a file of pieces
  Shared* shared_ = nullptr;
  std::shared_ptr<const CopyLayout> layout_;  // null without checksums
  std::span<Digest::Value> checksums_;        // in memory that all processes share
};

}  // namespace sgd::checkpoint
