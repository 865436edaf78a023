// Checks and copies of RowFeed.
#include "runtime/data/row_feed.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/data/integers.h"
#include "runtime/data/shuffle.h"

namespace sgd::data {

absl::StatusOr<std::unique_ptr<RowFeed>> RowFeed::Make(std::shared_ptr<const SafetensorsFile> file,
                                                       const std::vector<InputType>& inputs,
                                                       const std::vector<Source>& sources,
                                                       std::optional<uint64_t> shuffle_seed) {
  auto feed = std::unique_ptr<RowFeed>(new RowFeed);
  feed->file_ = std::move(file);
  feed->shuffle_seed_ = shuffle_seed;
  if (sources.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        feed->file_->path(), ": feeds no input of the program; name a tensor for an input with --feed INPUT=TENSOR"));
  }
  for (const Source& source : sources) {
    absl::Status status = feed->Add(inputs[source.input], source);
    if (!status.ok()) return status;
  }
  if (feed->rows_ < feed->batch_rows_) {
    return absl::InvalidArgumentError(absl::StrCat(feed->file_->path(), ": has ", feed->rows_,
                                                   " rows, fewer than one batch of ", feed->batch_rows_,
                                                   "; expected at least one batch"));
  }
  return feed;
}

absl::Status RowFeed::Add(const InputType& input, const Source& source) {
  const TensorEntry* entry = file_->Find(source.tensor);
  auto fault = [&](const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_->path(), ": tensor ", QuotedName(source.tensor), ": ", what...));
  };
  if (entry == nullptr) return fault("not in the file, but input ", QuotedName(input.name), " is to be fed from it");
  const Dims& dims = input.type.global_dims;
  if (dims.empty() || dims[0] == 0) {
    return fault("cannot feed input ", QuotedName(input.name), ", ", FileTypeText(input.type.element, dims),
                 ": it has no rows");
  }
  const bool converts = input.narrow_bits == 0 && AreOtherIntegers(entry->element, input.type.element);
  const std::optional<Dims> given = converts ? entry->dims : DimsAs(*entry, input.type.element);
  const bool same_rows =
      given && given->size() == dims.size() && std::equal(dims.begin() + 1, dims.end(), given->begin() + 1);
  if (!same_rows) {
    return fault("is ", FileTypeText(entry->element, entry->dims), "; its rows do not fit input ",
                 QuotedName(input.name), ", ", FileTypeText(input.type.element, dims));
  }
  if (absl::Status status = converts ? CheckFits(*file_, *entry, input) : CheckRange(*file_, *entry, input);
      !status.ok())
    return status;
  if (inputs_.empty()) {
    rows_ = entry->dims[0];
    batch_rows_ = dims[0];
  }
  if (entry->dims[0] != rows_) {
    return fault("has ", entry->dims[0], " rows, but ", QuotedName(entries_[0]->name), " has ", rows_);
  }
  if (dims[0] != batch_rows_) {
    return fault("feeds batches of ", dims[0], " rows to input ", QuotedName(input.name), ", but other inputs take ",
                 batch_rows_);
  }
  inputs_.push_back(source.input);
  entries_.push_back(entry);
  return absl::OkStatus();
}

void RowFeed::Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local) const {
  const uint64_t first = step % batches_per_epoch() * batch_rows_;
  std::optional<Permutation> order;
  if (shuffle_seed_) order.emplace(rows_, *shuffle_seed_, step / batches_per_epoch());
  const std::byte* rows = file_->Bytes(*entries_[i]).data();
  const uint64_t row_bytes = shard.global_bytes() / batch_rows_;
  const ElementType from = entries_[i]->element, to_element = shard.type().element;
  const bool converts = AreOtherIntegers(from, to_element);
  const uint64_t size = artifact::ElementSize(to_element), from_size = artifact::ElementSize(from);
  if (shard.has_padding()) std::memset(local.data(), 0, shard.local_bytes());
  shard.ForEachRun([&](uint64_t global, uint64_t to, uint64_t bytes) {
    // A run may span several rows of the batch, which are anywhere in the file.
    while (bytes > 0) {
      const uint64_t position = first + global / row_bytes;
      const uint64_t row = order ? (*order)(position) : position;
      const uint64_t in_row = global % row_bytes;
      const uint64_t part = std::min(bytes, row_bytes - in_row);
      const uint64_t begin = row * row_bytes + in_row;  // as if the file had the program's type
      if (converts)
        ConvertIntegers(from, rows + begin / size * from_size, to_element, local.data() + to, part / size);
      else
        std::memcpy(local.data() + to, rows + begin, part);
      global += part;
      to += part;
      bytes -= part;
    }
  });
}

}  // namespace sgd::data
