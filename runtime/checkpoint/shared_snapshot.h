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
#include "runtime/checkpoint/file_plan.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::checkpoint {

// How a rank waits for others: `poll` is asked meanwhile and ends the wait by an error, as does `deadline`.
struct Patience {
  std::function<absl::Status()> poll;
  absl::Duration deadline = absl::Seconds(300);
};

// The image of a file of global tensors, which any number of ranks can read. Each rank puts its shards where they
// belong, and replicas share the work.
class SharedSnapshot {
 public:
  // Memory for `specs`, before the ranks are forked. ResourceExhausted where there is not enough.
  static absl::StatusOr<std::unique_ptr<SharedSnapshot>> Create(const std::vector<data::TensorSpec>& specs,
                                                                uint32_t ranks);
  // The image of a file of pieces that `ranks` ranks write together, in their order from the first one on.
  static absl::StatusOr<std::unique_ptr<SharedSnapshot>> Create(FilePlan plan, uint32_t ranks);
  ~SharedSnapshot();
  SharedSnapshot(const SharedSnapshot&) = delete;
  SharedSnapshot& operator=(const SharedSnapshot&) = delete;

  const std::vector<data::TensorSpec>& specs() const { return image_.specs(); }
  uint32_t ranks() const { return ranks_; }

  // Of a rank: copies its part of `state`, that after `steps_done` steps. All ranks call it with the same steps, in
  // ascending order, and tensors as in `specs`. Nobody may still need what was there before.
  void Fill(uint64_t steps_done, const std::vector<LocalTensor>& state);

  // The same for a file of pieces, by rank `rank` of the job.
  void FillPieces(uint64_t steps_done, uint32_t rank, const std::vector<LocalTensor>& state);
  // Of a rank, after Fill with the same steps: has put what it received of another host's state into tensor(i).
  void AddOfOtherHost(uint64_t steps_done);
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
  // While there are no ranks.
  void Clear();

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
  void EndFill() { shared_->progress.fetch_add(1, std::memory_order_acq_rel); }

  const uint32_t ranks_;
  data::TensorFileWriter image_;
  std::vector<FilePlan::Piece> pieces_;  // of a file of pieces
  Shared* shared_ = nullptr;
};

}  // namespace sgd::checkpoint
