// Which row of which source is at each position of each batch: a function of seed and step alone, whatever the ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/data/mixture.h"
#include "runtime/data/shuffle.h"

namespace sgd::data {

struct PickedRow {
  size_t source = 0;
  uint64_t row = 0;
};

// Of one source, epoch e visits rows in the order Permutation(rows, seed, e); its batch k holds rows [k * B, (k + 1) *
// B) of that order, B being the rows of a batch. Rows that do not fill a last batch are left to the next epoch, which
// is shuffled anew. Without a seed rows come in the source's order.
//
// Of several sources, each step takes as many rows of each as Mixture says, and has them at positions that are
// shuffled. The rows that a source gives, over all steps, are its epochs one behind the other, each a Permutation of
// all of its rows: none is left out, and none comes again before all others have come. Sources have their epochs at
// different times.
class RowOrder {
 public:
  // Rows of one source that do not fill a last batch are left out, or fill it together with repetitions of the last of
  // them.
  enum class LastBatch : uint8_t { kLeftOut, kPadded };

  RowOrder(uint64_t rows, uint64_t batch_rows, std::optional<uint64_t> seed, LastBatch last = LastBatch::kLeftOut);
  // `rows` by source.
  RowOrder(std::vector<uint64_t> rows, uint64_t batch_rows, uint64_t seed, std::unique_ptr<const Mixture> mixture);

  // The rows of one batch, by position.
  class Batch {
   public:
    PickedRow operator()(uint64_t position) const;

   private:
    friend class RowOrder;
    const RowOrder* order_ = nullptr;
    uint64_t first_ = 0;                      // of one source: the position in its epoch
    std::optional<Permutation> permutation_;  // of one source: of its rows; of several: of positions
    Mixture::Step step_;
  };
  Batch At(uint64_t step) const;
  // Of one source.
  uint64_t batches_per_epoch() const {
    return rows_[0] / batch_rows_ + (last_ == LastBatch::kPadded && rows_[0] % batch_rows_ > 0 ? 1 : 0);
  }

 private:
  uint64_t SeedOf(size_t source) const;

  const std::vector<uint64_t> rows_;
  const uint64_t batch_rows_;
  const std::optional<uint64_t> seed_;
  const LastBatch last_ = LastBatch::kLeftOut;
  const std::unique_ptr<const Mixture> mixture_;  // null for one source
};

}  // namespace sgd::data
