// Copies of a job's state in memory that the ranks of one host share with the process that has started them: when ranks
// die, those that are started next go on from there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::checkpoint {

// Two copies, filled in turn: while one is filled the other is whole. A copy is the image of a file of global tensors,
// so that any number of ranks can read it.
class SharedSnapshots {
 public:
  // Memory for two copies of `specs`, before the ranks are forked. `point` is that of every copy, but for its step.
  // ResourceExhausted without memory for them.
  static absl::StatusOr<std::unique_ptr<SharedSnapshots>> Create(const std::vector<data::TensorSpec>& specs,
                                                                 uint32_t ranks, TrainingPoint point);
  ~SharedSnapshots();
  SharedSnapshots(const SharedSnapshots&) = delete;
  SharedSnapshots& operator=(const SharedSnapshots&) = delete;

  const std::vector<data::TensorSpec>& specs() const { return copies_.front().image.specs(); }
  uint32_t ranks() const { return ranks_; }
  // Bytes of memory that both copies take.
  uint64_t bytes() const;

  // Of a rank: copies its part of `state`, that after `steps_done` steps. All ranks call it with the same steps, in
  // ascending order, and tensors as in `specs`. Replicas share the work. Waits until the other copy is whole, and for
  // that `deadline` long at most; `poll` is asked meanwhile and ends the wait by an error.
  absl::Status Take(uint64_t steps_done, const std::vector<LocalTensor>& state,
                    const std::function<absl::Status()>& poll, absl::Duration deadline);

  // The rest is for the process that starts the ranks, while there are none.

  // Of the newest whole copy; nothing before there is one.
  std::optional<TrainingPoint> newest() const;
  // Its tensors, under their names; as long as this object lives.
  absl::StatusOr<data::SafetensorsFile> OpenNewest() const;
  // Prepares for further ranks, which fill the other copy first.
  void StartOver();

 private:
  struct Copy {
    data::TensorFileWriter image;
    // Steps done plus one, times kMostRanks, plus the number of ranks that have filled their part; shared.
    std::atomic<uint64_t>* progress;
  };

  SharedSnapshots(uint32_t ranks, TrainingPoint point) : ranks_(ranks), point_(std::move(point)) {}
  bool IsWhole(const Copy& copy) const;
  std::optional<size_t> Newest() const;

  const uint32_t ranks_;
  const TrainingPoint point_;
  std::vector<Copy> copies_;
  void* shared_ = nullptr;  // what `progress` points into
  size_t next_ = 0;         // the copy to fill
};

}  // namespace sgd::checkpoint
