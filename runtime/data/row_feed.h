// Batches of rows from a data set: shuffled for training, in order for evaluation.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/data_set.h"
#include "runtime/data/feed.h"
#include "runtime/data/row_order.h"

namespace sgd::data {

// A rank reads the rows of its shard alone, and of each the part of its shard.
class RowFeed : public Feed {
 public:
  struct Source {
    size_t input = 0;    // position in the program's inputs
    std::string column;  // of each source of the data set
  };

  struct Options {
    std::optional<uint64_t> seed = std::nullopt;  // without, rows come in the source's order, which must be one
    RowOrder::LastBatch last = RowOrder::LastBatch::kLeftOut;  // of one source
    // Values that might not fit an input are checked when the feed is made, in columns of up to so many bytes and rows;
    // of larger ones where they are read.
    uint64_t most_checked = uint64_t{256} << 20;
    uint64_t most_checked_rows = uint64_t{2} << 20;
  };

  // Errors (InvalidArgument) name file and tensor: a column that is not there, of another row shape than its input, of
  // a type or with values that the input does not hold exactly, columns with different numbers of rows, inputs with
  // different batch sizes, no rows or, without padding, fewer than one batch.
  static absl::StatusOr<std::unique_ptr<RowFeed>> Make(std::shared_ptr<const DataSet> set,
                                                       const std::vector<InputType>& inputs,
                                                       const std::vector<Source>& sources, const Options& options);

  // Of the only source, or the first one.
  uint64_t rows() const { return rows_.front(); }
  uint64_t batch_rows() const { return batch_rows_; }
  uint64_t batches_per_epoch() const { return order_->batches_per_epoch(); }
  // Rows at the end of the step's batch that repeat others.
  uint64_t padding(uint64_t step) const {
    const uint64_t end = (step % batches_per_epoch() + 1) * batch_rows_;
    return end > rows() ? end - rows() : 0;
  }
  const DataSet& set() const { return *set_; }
  // By source.
  const std::vector<uint64_t>& rows_by_source() const { return rows_; }

  std::span<const size_t> inputs() const override { return inputs_; }
  absl::Status Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local,
                    ReadWatch& watch) const override;
  void Announce(uint64_t step, size_t i, const Shard& shard) const override;

 private:
  // Where an input's rows are in a source.
  struct Feeding {
    size_t column = 0;
    Conversion conversion;
  };
  // Bytes [first, first + size) of a row of the batch, as the input's type has them, and where they go in the shard.
  struct Piece {
    uint64_t first, size, local;
  };
  // Pieces of one row that are read at once.
  using Visit = std::function<absl::Status(const PickedRow& row, std::span<const Piece> pieces)>;

  RowFeed() = default;
  absl::Status AddInput(const InputType& input, const Source& fed);
  absl::Status AddColumn(size_t source, const InputType& input, const Source& fed);
  absl::Status CheckColumns(size_t source, const Options& options);
  absl::Status CheckValues(size_t source, size_t i, const Options& options) const;
  absl::Status MakeOrder(const Options& options);
  absl::Status ForEachPicked(uint64_t step, size_t i, const Shard& shard, const Visit& visit) const;
  // Reads bytes of a row, as the input's type has them, from `first` on; through `scratch` where they are converted.
  absl::Status ReadRow(size_t i, const PickedRow& row, uint64_t first, std::span<std::byte> target,
                       std::vector<std::byte>& scratch, ReadWatch& watch) const;

  std::shared_ptr<const DataSet> set_;
  std::vector<size_t> inputs_;
  std::vector<InputType> types_;               // by inputs_
  std::vector<std::vector<Feeding>> feeding_;  // by source, by inputs_
  std::vector<uint64_t> rows_;                 // by source
  uint64_t batch_rows_ = 0;
  std::optional<RowOrder> order_;
};

}  // namespace sgd::data
