// A rank of a pipeline holds the inputs of its stage.
#include "runtime/train/fed_inputs.h"

namespace sgd::train {

absl::StatusOr<std::unique_ptr<FedInputs>> FedInputs::Start(const std::shared_ptr<const data::Feed>& feed,
                                                            const exec::Executor& executor,
                                                            const data::ReadAhead::Options& options) {
  auto fed = std::unique_ptr<FedInputs>(new FedInputs(executor));
  std::vector<data::ReadAhead::Input> inputs;
  for (size_t k = 0; k < feed->inputs().size(); ++k) {
    const exec::Tensor& input = executor.inputs()[feed->inputs()[k]];
    if (!input.is_held) continue;
    inputs.push_back({k, input.shard});
    fed->inputs_.push_back(feed->inputs()[k]);
  }
  if (inputs.empty()) return fed;
  absl::StatusOr<std::unique_ptr<data::ReadAhead>> reading = data::ReadAhead::Start(feed, std::move(inputs), options);
  if (!reading.ok()) return reading.status();
  fed->reading_ = *std::move(reading);
  return fed;
}

absl::Status FedInputs::Fill(uint64_t step) {
  if (reading_ == nullptr) return absl::OkStatus();
  targets_.clear();
  for (size_t input : inputs_) targets_.push_back(executor_.InputBytes(input));
  return reading_->Take(step, targets_);
}

}  // namespace sgd::train
