// Column 0 are tokens, column 1 targets: the number of a column is how far its tokens are behind.
#include "runtime/data/token_windows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/data/fingerprint.h"

namespace sgd::data {

absl::StatusOr<std::unique_ptr<TokenWindows>> TokenWindows::Make(TokenFiles tokens, const Shape& shape) {
  auto windows = std::unique_ptr<TokenWindows>(new TokenWindows(std::move(tokens), shape));
  uint64_t rows = 0;
  for (size_t file = 0; file < windows->tokens_.size(); ++file) {
    windows->first_rows_.push_back(rows);
    const uint64_t count = windows->tokens_.count(file);
    // With targets, the last of a row is one token further on.
    const uint64_t usable = count - std::min<uint64_t>(count, shape.has_targets ? 1 : 0);
    if (usable >= shape.sequence) rows += (usable - shape.sequence) / shape.stride + 1;
  }
  if (rows == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(windows->name(), ": has too few tokens for a row of ", shape.sequence,
                     shape.has_targets ? " tokens and their targets" : " tokens", "; set a smaller \"sequence\""));
  }
  windows->columns_.push_back({"tokens", ElementType::I32, {shape.sequence}, rows, absl::OkStatus()});
  if (shape.has_targets)
    windows->columns_.push_back({"targets", ElementType::I32, {shape.sequence}, rows, absl::OkStatus()});
  return windows;
}

TokenWindows::Window TokenWindows::WindowOf(uint64_t row) const {
  // Files without rows begin where the next one does.
  const auto file = std::ranges::upper_bound(first_rows_, row) - 1;
  return {static_cast<size_t>(file - first_rows_.begin()), row - *file};
}

RowSource::Place TokenWindows::PlaceOf(size_t column, uint64_t row) const {
  const Window window = WindowOf(row);
  return {absl::StrCat(tokens_.path(window.file), ": windows of ", QuotedName(columns_[column].name)), window.number};
}

absl::Status TokenWindows::Read(size_t column, uint64_t row, uint64_t first, std::span<std::byte> target,
                                ReadWatch& watch) const {
  const Window window = WindowOf(row);
  return tokens_.Read(window.file, window.number * shape_.stride + first + column, target, watch);
}

void TokenWindows::Announce(size_t column, uint64_t row, uint64_t first, uint64_t count) const {
  const Window window = WindowOf(row);
  tokens_.Announce(window.file, window.number * shape_.stride + first + column, count);
}

absl::StatusOr<std::string> TokenWindows::Fingerprint() const {
  absl::StatusOr<std::string> files = FingerprintOf(tokens_.files(), tokens_.tensors());
  if (!files.ok()) return files;
  return absl::StrCat(*files, " stride ", shape_.stride);
}

}  // namespace sgd::data
