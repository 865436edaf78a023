// Batches of rows from a data set in one file: shuffled by epoch for training, in order
// for evaluation.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/feed.h"

namespace sgd::data {

// Row r of every fed tensor belongs together. Epoch e visits rows in the order Permutation(rows,
// seed, e); its batch k holds rows [k * B, (k + 1) * B) of that order, B being the inputs' first
// dimension. Rows that do not fill a last batch are left to the next epoch, which is shuffled anew.
// A rank copies only the rows of its shard.
class RowFeed : public Feed {
 public:
  struct Source {
    size_t input = 0;    // position in the program's inputs
    std::string tensor;  // name in the file
  };

  // Without a seed rows come in the file's order. Errors (InvalidArgument) name file and tensor: a
  // tensor that is not there, of another element type or row shape than its input, tensors with
  // different numbers of rows, inputs with different batch sizes, fewer rows than one batch.
  static absl::StatusOr<std::unique_ptr<RowFeed>> Make(std::shared_ptr<const SafetensorsFile> file,
                                                       const std::vector<InputType>& inputs,
                                                       const std::vector<Source>& sources,
                                                       std::optional<uint64_t> shuffle_seed);

  uint64_t rows() const { return rows_; }
  uint64_t batch_rows() const { return batch_rows_; }
  uint64_t batches_per_epoch() const { return rows_ / batch_rows_; }

  std::span<const size_t> inputs() const override { return inputs_; }
  void Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local) const override;

 private:
  RowFeed() = default;
  absl::Status Add(const InputType& input, const Source& source);

  std::shared_ptr<const SafetensorsFile> file_;
  std::vector<size_t> inputs_;
  std::vector<const TensorEntry*> entries_;  // by inputs_
  std::optional<uint64_t> shuffle_seed_;
  uint64_t rows_ = 0;
  uint64_t batch_rows_ = 0;
};

}  // namespace sgd::data
