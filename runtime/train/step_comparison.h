// Rank 0's part of the comparison of a step: runs it on one rank, and says which tensors differ by more than rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/one_host/shared_memory_communicator.h"
#include "runtime/guard/tensor_distance.h"
#include "runtime/train/verification.h"
#include "runtime/train/verified_tensors.h"

namespace sgd::train {

class StepComparison {
 public:
  // Prepares a rank of the other plan in this process. Borrows all; the session is rank 0's of the job.
  static absl::StatusOr<std::unique_ptr<StepComparison>> Create(const Session& session);

  // Takes the tensors of all ranks from the shared memory, and runs the step on one rank: with the same state, and with
  // the rows that its own feed has for the step.
  absl::Status Begin(uint64_t step);
  // Likewise after a step whose values have been moved by noise of the seed.
  absl::Status AddNoise(uint64_t step, uint64_t seed);

  struct Difference {
    VerifiedTensor tensor;
    guard::TensorDistance distance;
    guard::TensorDistance limit;
    double share = 0;  // of the limit; above 1 it is more than rounding
  };
  // Of all tensors that differ, in their order.
  std::vector<Difference> Differences() const;
  // The tensor that comes nearest to its limit.
  Difference Nearest() const;
  struct Coarseness {
    VerifiedTensor tensor;
    double limit = 0;  // of the norm, as a share of the tensor's norm on one rank
  };
  // The tensor of which the largest share may be rounding.
  Coarseness Coarsest() const;
  // "params/w1 differs ... at [3, 5]: 0.5 instead of 0.25 (rounding may change it by 1e-07)".
  std::string TextOf(const Difference& difference) const;

  StepReplay& replay() { return *replay_; }
  const Job& one_rank() const { return *session_.job().verification->one_rank; }

 private:
  using Bytes = std::vector<std::byte>;  // of a global tensor

  explicit StepComparison(const Session& session)
      : session_(session), tensors_(VerifiedTensors(session.job())), seen_(tensors_.size()) {}
  absl::Status OpenOneRank();
  bool IsFed(const VerifiedTensor& tensor) const;
  VerifiedTensor OnOneRank(const VerifiedTensor& tensor) const;
  Bytes BytesOnOneRank(const VerifiedTensor& tensor) const;
  void SetInput(const VerifiedTensor& tensor, const Bytes& bytes);
  Difference DifferenceOf(size_t tensor) const;

  struct Seen {
    Bytes many, one;
    guard::TensorDistance moved;  // by noise, the largest of both plans
  };

  const Session& session_;
  const std::vector<VerifiedTensor> tensors_;
  std::vector<Seen> seen_;  // by tensor
  std::unique_ptr<comm::SharedMemoryCommunicator> communicator_;
  launch::RankContext rank_;
  std::unique_ptr<Session> one_;
  std::unique_ptr<StepReplay> replay_;
};

}  // namespace sgd::train
