// Writes the weights of a run when it ends: what the model that was trained can load.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/comm/control/agreements.h"
#include "runtime/train/signature.h"
#include "runtime/train/train_loop.h"

namespace sgd::train {

// Of `state`, tensors by the names of the program's inputs: parameters and buffers, each under all of its names in the
// model. Views of the same bytes.
std::vector<checkpoint::LocalTensor> SelectWeights(const Signature& program,
                                                   const std::vector<checkpoint::LocalTensor>& state);

// InvalidArgument where the program has no parameters.
absl::Status CheckHasWeights(const Signature& program);

class WeightsSaver : public StateSaver {
 public:
  // `weights` gives this rank's tensors, under the same names on all ranks. `ranks` is borrowed.
  WeightsSaver(std::string path, absl::Duration deadline, std::function<std::vector<checkpoint::LocalTensor>()> weights,
               comm::Agreements& ranks)
      : path_(std::move(path)), deadline_(deadline), weights_(std::move(weights)), ranks_(ranks) {}

  // Errors as of checkpoint::WriteShardedFile.
  absl::Status Save(uint64_t steps_done) override;

 private:
  const std::string path_;
  const absl::Duration deadline_;
  const std::function<std::vector<checkpoint::LocalTensor>()> weights_;
  comm::Agreements& ranks_;
};

}  // namespace sgd::train
