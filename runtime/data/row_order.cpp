// Nothing is stored by row.
#include "runtime/data/row_order.h"

#include <algorithm>
#include <utility>

namespace sgd::data {

RowOrder::RowOrder(uint64_t rows, uint64_t batch_rows, std::optional<uint64_t> seed, LastBatch last)
    : rows_{rows}, batch_rows_(batch_rows), seed_(seed), last_(last) {}

RowOrder::RowOrder(std::vector<uint64_t> rows, uint64_t batch_rows, uint64_t seed,
                   std::unique_ptr<const Mixture> mixture)
    : rows_(std::move(rows)), batch_rows_(batch_rows), seed_(seed), mixture_(std::move(mixture)) {}

uint64_t RowOrder::SeedOf(size_t source) const { return Mix(*seed_) + source + 1; }

RowOrder::Batch RowOrder::At(uint64_t step) const {
  Batch batch;
  batch.order_ = this;
  if (mixture_) {
    batch.step_ = mixture_->At(step);
    batch.permutation_.emplace(batch_rows_, *seed_, step);
    return batch;
  }
  const uint64_t batches = batches_per_epoch();
  batch.first_ = step % batches * batch_rows_;
  if (seed_) batch.permutation_.emplace(rows_[0], *seed_, step / batches);
  return batch;
}

PickedRow RowOrder::Batch::operator()(uint64_t position) const {
  if (!order_->mixture_) {
    const uint64_t index = std::min(first_ + position, order_->rows_[0] - 1);
    return {0, permutation_ ? (*permutation_)(index) : index};
  }
  uint64_t index = (*permutation_)(position);
  size_t source = 0;
  while (index >= step_.rows[source]) index -= step_.rows[source++];
  const uint64_t given = step_.before[source] + index, rows = order_->rows_[source];
  return {source, Permutation(rows, order_->SeedOf(source), given / rows)(given % rows)};
}

}  // namespace sgd::data
