// Checks and reads of RowFeed.
#include "runtime/data/row_feed.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"

namespace sgd::data {
namespace {

// Bytes between two parts of a row that are read with it: two requests take longer than so many bytes more.
constexpr uint64_t kMostGap = 16 << 10;

// The row dimensions of a column where its elements are those of the input: its own, or those of C64 written as pairs.
std::optional<Dims> RowDimsAs(const Column& column, ElementType element) {
  if (element != ElementType::C64)
    return Conversion{column.element, element}.exists() ? std::optional(column.row_dims) : std::nullopt;
  return DimsAs({.name = column.name, .element = column.element, .dims = column.row_dims}, element);
}

uint64_t ElementsOf(const Dims& dims) {
  uint64_t count = 1;
  for (uint64_t dim : dims) count *= dim;
  return count;
}

std::string RowText(const Column& column) {
  Dims dims = column.row_dims;
  dims.insert(dims.begin(), column.rows);
  return FileTypeText(column.element, dims);
}

// The rows that an input takes: "rows I32[4], or of other integers; cast the tensor".
std::string ExpectedRows(const InputType& input) {
  const ElementType element = input.type.element;
  const bool takes_integers = Conversion{ElementType::U8, element}.exists() && input.narrow_bits == 0;
  const char* const others = !takes_integers              ? ""
                             : artifact::IsFloat(element) ? ", or of other numbers"
                                                          : ", or of other integers; cast the tensor";
  return absl::StrCat("rows ", FileTypeText(element, std::span(input.type.global_dims).subspan(1)), others);
}

std::string NamesOf(const std::vector<Column>& columns) {
  constexpr size_t kMost = 10;
  std::string names;
  for (size_t i = 0; i < std::min(columns.size(), kMost); ++i)
    absl::StrAppend(&names, i == 0 ? "" : ", ", QuotedName(columns[i].name));
  return absl::StrCat(columns.empty() ? "none" : names, columns.size() > kMost ? ", ..." : "");
}

}  // namespace

absl::StatusOr<std::unique_ptr<RowFeed>> RowFeed::Make(std::shared_ptr<const DataSet> set,
                                                       const std::vector<InputType>& inputs,
                                                       const std::vector<Source>& sources, const Options& options) {
  auto feed = std::unique_ptr<RowFeed>(new RowFeed);
  feed->set_ = std::move(set);
  if (sources.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        feed->set_->name, ": feeds no input of the program; name a tensor for an input with --feed INPUT=TENSOR"));
  }
  feed->feeding_.resize(feed->set_->sources.size());
  for (const Source& source : sources) {
    if (absl::Status status = feed->AddInput(inputs[source.input], source); !status.ok()) return status;
  }
  for (size_t source = 0; source < feed->set_->sources.size(); ++source) {
    if (absl::Status status = feed->CheckColumns(source, options); !status.ok()) return status;
    for (size_t i = 0; i < feed->inputs_.size(); ++i) {
      if (absl::Status status = feed->CheckValues(source, i, options); !status.ok()) return status;
    }
  }
  if (absl::Status status = feed->MakeOrder(options); !status.ok()) return status;
  return feed;
}

absl::Status RowFeed::AddInput(const InputType& input, const Source& fed) {
  const Dims& dims = input.type.global_dims;
  if (dims.empty() || dims[0] == 0) {
    return absl::InvalidArgumentError(absl::StrCat(set_->name, ": tensor ", QuotedName(fed.column),
                                                   ": cannot feed input ", QuotedName(input.name), ", ",
                                                   FileTypeText(input.type.element, dims), ": it has no rows"));
  }
  if (inputs_.empty()) batch_rows_ = dims[0];
  if (dims[0] != batch_rows_) {
    return absl::InvalidArgumentError(absl::StrCat(set_->name, ": tensor ", QuotedName(fed.column),
                                                   ": feeds batches of ", dims[0], " rows to input ",
                                                   QuotedName(input.name), ", but other inputs take ", batch_rows_));
  }
  for (size_t source = 0; source < set_->sources.size(); ++source) {
    if (absl::Status status = AddColumn(source, input, fed); !status.ok()) return status;
  }
  inputs_.push_back(fed.input);
  types_.push_back(input);
  return absl::OkStatus();
}

absl::Status RowFeed::AddColumn(size_t source, const InputType& input, const Source& fed) {
  const RowSource& rows = *set_->sources[source].rows;
  const std::optional<size_t> found = rows.Find(fed.column);
  const std::string where = absl::StrCat(rows.name(), ": tensor ", QuotedName(fed.column), ": ");
  if (!found) {
    return absl::InvalidArgumentError(absl::StrCat(where, "not in the file, but it must feed input ",
                                                   QuotedName(input.name), "; expected one of ",
                                                   NamesOf(rows.columns()), "; say --feed INPUT=TENSOR"));
  }
  const Column& column = rows.columns()[*found];
  if (!column.fault.ok()) return column.fault;
  const Dims& dims = input.type.global_dims;
  const std::optional<Dims> given = RowDimsAs(column, input.type.element);
  if (!given || !std::equal(dims.begin() + 1, dims.end(), given->begin(), given->end())) {
    return absl::InvalidArgumentError(absl::StrCat(where, "is ", RowText(column), "; its rows do not fit input ",
                                                   QuotedName(input.name), ", ", FileTypeText(input.type.element, dims),
                                                   "; expected ", ExpectedRows(input)));
  }
  feeding_[source].push_back({*found, ConversionTo(input, column.element)});
  return absl::OkStatus();
}

absl::Status RowFeed::CheckColumns(size_t source, const Options& options) {
  const RowSource& rows = *set_->sources[source].rows;
  std::vector<size_t> columns;
  for (const Feeding& feeding : feeding_[source]) columns.push_back(feeding.column);
  const Column& first = rows.columns()[columns[0]];
  for (size_t number : columns) {
    const Column& column = rows.columns()[number];
    if (column.rows == first.rows) continue;
    return absl::InvalidArgumentError(absl::StrCat(rows.name(), ": tensor ", QuotedName(column.name), ": has ",
                                                   column.rows, " rows, but ", QuotedName(first.name), " has ",
                                                   first.rows, "; expected the same number of rows"));
  }
  rows_.push_back(first.rows);
  const bool is_padded = options.last == RowOrder::LastBatch::kPadded;
  if (set_->sources.size() == 1 && first.rows < batch_rows_ && !is_padded) {
    return absl::InvalidArgumentError(absl::StrCat(rows.name(), ": has ", first.rows, " rows, fewer than one batch of ",
                                                   batch_rows_,
                                                   "; expected at least one batch; add rows, or compile "
                                                   "the model for a smaller batch"));
  }
  if (first.rows == 0) return absl::InvalidArgumentError(absl::StrCat(rows.name(), ": has no rows; leave it out"));
  return rows.CheckAligned(columns);
}

absl::Status RowFeed::CheckValues(size_t source, size_t i, const Options& options) const {
  const auto& [number, conversion] = feeding_[source][i];
  const Column& column = set_->sources[source].rows->columns()[number];
  const uint64_t elements = ElementsOf(column.row_dims);
  uint64_t bytes = 0;
  Dims dims = column.row_dims;
  dims.insert(dims.begin(), column.rows);
  const bool is_small = TensorBytes(column.element, dims, bytes) && bytes <= options.most_checked &&
                        column.rows <= options.most_checked_rows;
  if (!conversion.may_fail() || !is_small) return absl::OkStatus();
  std::vector<std::byte> scratch, target(elements * artifact::ElementSize(conversion.to));
  ReadWatch watch;
  for (uint64_t row = 0; row < column.rows; ++row) {
    absl::Status status = ReadRow(i, {source, row}, 0, target, scratch, watch);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RowFeed::MakeOrder(const Options& options) {
  const std::vector<DataSource>& sources = set_->sources;
  if (sources.size() == 1) {
    order_.emplace(rows_[0], batch_rows_, options.seed, options.last);
    return absl::OkStatus();
  }
  if (!options.seed) {
    return absl::InvalidArgumentError(absl::StrCat(set_->name, ": has ", sources.size(),
                                                   " sources; expected one, whose rows are evaluated in order"));
  }
  std::vector<WeightSchedule> weights;
  for (const DataSource& source : sources) weights.push_back(source.weight);
  order_.emplace(rows_, batch_rows_, *options.seed, std::make_unique<const Mixture>(std::move(weights), batch_rows_));
  return absl::OkStatus();
}

absl::Status RowFeed::ReadRow(size_t i, const PickedRow& row, uint64_t first, std::span<std::byte> target,
                              std::vector<std::byte>& scratch, ReadWatch& watch) const {
  const auto& [column, conversion] = feeding_[row.source][i];
  const RowSource& source = *set_->sources[row.source].rows;
  const uint64_t size = artifact::ElementSize(conversion.from), to_size = artifact::ElementSize(conversion.to);
  first /= to_size;
  if (conversion.is_copy()) return source.Read(column, row.row, first, target, watch);
  const uint64_t count = target.size() / to_size;
  scratch.resize(count * size);
  if (absl::Status status = source.Read(column, row.row, first, scratch, watch); !status.ok()) return status;
  const std::optional<uint64_t> fault = Convert(conversion, scratch.data(), count, target.data());
  if (!fault) return absl::OkStatus();
  const RowSource::Place place = source.PlaceOf(column, row.row);
  Dims dims = source.columns()[column].row_dims;
  const uint64_t position = place.row * ElementsOf(dims) + first + *fault;
  dims.insert(dims.begin(), place.row + 1);
  return absl::InvalidArgumentError(absl::StrCat(
      place.text, ": ", ValueFault(conversion, IndexText(position, dims), scratch.data() + *fault * size, types_[i])));
}

absl::Status RowFeed::ForEachPicked(uint64_t step, size_t i, const Shard& shard, const Visit& visit) const {
  const RowOrder::Batch batch = order_->At(step);
  const uint64_t row_bytes = shard.global_bytes() / batch_rows_;
  std::vector<Piece> pieces;
  uint64_t row = 0;  // in the batch, of `pieces`
  absl::Status status;
  const auto end_row = [&] {
    if (!pieces.empty() && status.ok()) status = visit(batch(row), pieces);
    pieces.clear();
  };
  shard.ForEachRun([&](uint64_t global, uint64_t local, uint64_t bytes) {
    while (bytes > 0) {  // a run may span several rows of the batch
      const uint64_t first = global % row_bytes, size = std::min(bytes, row_bytes - first);
      const bool is_near =
          !pieces.empty() && global / row_bytes == row && first <= pieces.back().first + pieces.back().size + kMostGap;
      if (!is_near) end_row();
      row = global / row_bytes;
      pieces.push_back({first, size, local});
      global += size;
      local += size;
      bytes -= size;
    }
  });
  end_row();
  return status;
}

absl::Status RowFeed::Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local,
                           ReadWatch& watch) const {
  if (shard.has_padding()) std::memset(local.data(), 0, shard.local_bytes());
  std::vector<std::byte> scratch, span;
  return ForEachPicked(step, i, shard, [&](const PickedRow& row, std::span<const Piece> pieces) {
    const Piece &first = pieces.front(), &last = pieces.back();
    if (pieces.size() == 1) return ReadRow(i, row, first.first, local.subspan(first.local, first.size), scratch, watch);
    span.resize(last.first + last.size - first.first);
    absl::Status status = ReadRow(i, row, first.first, span, scratch, watch);
    for (const Piece& piece : pieces)
      std::memcpy(local.data() + piece.local, span.data() + (piece.first - first.first), piece.size);
    return status;
  });
}

void RowFeed::Announce(uint64_t step, size_t i, const Shard& shard) const {
  static_cast<void>(ForEachPicked(step, i, shard, [&](const PickedRow& row, std::span<const Piece> pieces) {
    const auto& [column, conversion] = feeding_[row.source][i];
    const uint64_t size = artifact::ElementSize(conversion.to), first = pieces.front().first;
    set_->sources[row.source].rows->Announce(column, row.row, first / size,
                                             (pieces.back().first + pieces.back().size - first) / size);
    return absl::OkStatus();
  }));
}

}  // namespace sgd::data
