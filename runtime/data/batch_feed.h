// Ready-made batches from one file: tensors named stepK.argN or stepK.<name>, K from 0, cycled when
// steps run out.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/feed.h"

namespace sgd::data {

class BatchFeed : public Feed {
 public:
  // Errors (InvalidArgument) name file and tensor: a name of another form, an unknown or doubly
  // given input, a type that is not the input's, steps that are missing or do not feed the same
  // inputs.
  static absl::StatusOr<std::unique_ptr<BatchFeed>> Make(std::shared_ptr<const SafetensorsFile> file,
                                                         const std::vector<InputType>& inputs, const NameTable& names);

  uint64_t batches() const { return batches_.size(); }

  std::span<const size_t> inputs() const override { return inputs_; }
  absl::Status Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local,
                    ReadWatch& watch) const override;

 private:
  BatchFeed() = default;

  std::shared_ptr<const SafetensorsFile> file_;
  std::vector<size_t> inputs_;
  std::vector<std::vector<const TensorEntry*>> batches_;  // by step, by inputs_
};

}  // namespace sgd::data
