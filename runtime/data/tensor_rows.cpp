// A column is found by name, a row's tensor by bisection.
#include "runtime/data/tensor_rows.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"

namespace sgd::data {
namespace {

Dims RowDims(const TensorEntry& entry) { return Dims(entry.dims.begin() + 1, entry.dims.end()); }

// Why a tensor cannot be a column by itself; completes "FILE: tensor 'x': ".
std::string FaultOf(const TensorEntry& entry) {
  uint64_t row_bytes = 0;
  if (entry.dims.empty()) return "is one number and has no rows";
  // Of a tensor without rows, the other dimensions may be any.
  return TensorBytes(entry.element, RowDims(entry), row_bytes) ? "" : "has rows whose size overflows";
}

}  // namespace

absl::StatusOr<std::unique_ptr<TensorRows>> TensorRows::Open(std::shared_ptr<DataFiles> files,
                                                             const std::vector<std::string>& paths) {
  auto rows = std::unique_ptr<TensorRows>(new TensorRows(std::move(files)));
  rows->name_ = NameOfFiles(paths);
  for (const std::string& path : paths) {
    absl::StatusOr<std::vector<DataTensor>> tensors = rows->files_->Open(path);
    if (!tensors.ok()) return tensors.status();
    for (DataTensor& tensor : *tensors) {
      rows->tensors_.push_back(std::move(tensor));
      rows->Add(rows->tensors_.size() - 1);
    }
  }
  return rows;
}

void TensorRows::Add(size_t tensor) {
  const TensorEntry& entry = tensors_[tensor].entry;
  const std::string own_fault = FaultOf(entry);
  const auto [at, is_new] = by_name_.try_emplace(entry.name, columns_.size());
  const size_t found = at->second;
  if (is_new) {
    columns_.push_back(
        {entry.name, entry.element, own_fault.empty() ? RowDims(entry) : Dims(), /*rows=*/0, absl::OkStatus()});
    parts_.emplace_back();
    uint64_t row_bytes = 0;
    TensorBytes(entry.element, columns_.back().row_dims, row_bytes);
    row_bytes_.push_back(row_bytes);
  }
  Column& column = columns_[found];
  const auto fail = [&](const auto&... what) {
    if (column.fault.ok())
      column.fault = absl::InvalidArgumentError(absl::StrCat(files_->TextOf(tensors_[tensor]), ": ", what...));
  };
  if (!own_fault.empty()) return fail(own_fault);
  if (column.element != entry.element || column.row_dims != RowDims(entry)) {
    return fail("is ", FileTypeText(entry.element, entry.dims), ", but rows of files before it are ",
                FileTypeText(column.element, column.row_dims),
                "; expected equal rows in all files; leave out those of other data");
  }
  // Sizes of files bound the sum; of rows without bytes there may be any number.
  constexpr uint64_t kMostRows = uint64_t{1} << 62;
  if (entry.dims[0] > kMostRows - column.rows) return fail("has ", entry.dims[0], " rows, more than can be counted");
  if (entry.dims[0] > 0) parts_[found].push_back({tensor, column.rows});
  column.rows += entry.dims[0];
}

const TensorRows::Part& TensorRows::PartOf(size_t column, uint64_t row) const {
  return *(std::ranges::upper_bound(parts_[column], row, {}, &Part::begin) - 1);
}

RowSource::Place TensorRows::PlaceOf(size_t column, uint64_t row) const {
  const Part& part = PartOf(column, row);
  return {files_->TextOf(tensors_[part.tensor]), row - part.begin};
}

uint64_t TensorRows::OffsetOf(size_t column, const Part& part, uint64_t row, uint64_t first) const {
  return (row - part.begin) * row_bytes_[column] + first * artifact::ElementSize(columns_[column].element);
}

absl::Status TensorRows::Read(size_t column, uint64_t row, uint64_t first, std::span<std::byte> target,
                              ReadWatch& watch) const {
  const Part& part = PartOf(column, row);
  return files_->Read(tensors_[part.tensor], OffsetOf(column, part, row, first), target, watch);
}

void TensorRows::Announce(size_t column, uint64_t row, uint64_t first, uint64_t count) const {
  const Part& part = PartOf(column, row);
  files_->Announce(tensors_[part.tensor], OffsetOf(column, part, row, first),
                   count * artifact::ElementSize(columns_[column].element));
}

absl::Status TensorRows::CheckAligned(std::span<const size_t> columns) const {
  struct First {
    size_t column;
    Part part;
  };
  std::map<size_t, First> by_file;
  for (size_t column : columns) {
    for (const Part& part : parts_[column]) {
      const DataTensor& tensor = tensors_[part.tensor];
      const auto [at, is_first] = by_file.try_emplace(tensor.file, First{column, part});
      const First& first = at->second;
      const uint64_t rows = tensor.entry.dims[0], first_rows = tensors_[first.part.tensor].entry.dims[0];
      if (is_first || (first.part.begin == part.begin && first_rows == rows)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(files_->TextOf(tensor), ": has ", rows, " rows, from row ", part.begin, " of the data, but ",
                       QuotedName(columns_[first.column].name), " has ", first_rows, ", from row ", first.part.begin,
                       "; expected the same rows of both in a file"));
    }
  }
  return absl::OkStatus();
}

}  // namespace sgd::data
