// The inputs of a rank that data feeds, step by step.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/read_ahead.h"
#include "runtime/exec/executor.h"

namespace sgd::train {

class FedInputs {
 public:
  // Begins to read for the inputs of `feed` that this rank holds. Borrows the executor. Errors as of ReadAhead::Start.
  static absl::StatusOr<std::unique_ptr<FedInputs>> Start(const std::shared_ptr<const data::Feed>& feed,
                                                          const exec::Executor& executor,
                                                          const data::ReadAhead::Options& options);

  // Waits for the batch of a step and puts it into the executor's inputs. Errors as of ReadAhead::Take.
  absl::Status Fill(uint64_t step);

 private:
  explicit FedInputs(const exec::Executor& executor) : executor_(executor) {}

  const exec::Executor& executor_;
  std::vector<size_t> inputs_;
  std::vector<std::span<std::byte>> targets_;
  std::unique_ptr<data::ReadAhead> reading_;  // null where this rank holds none
};

}  // namespace sgd::train
