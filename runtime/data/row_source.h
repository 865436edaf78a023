// Rows of named columns, wherever they come from: the one interface between the formats of data and the feed of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/read_watch.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {

struct Column {
  std::string name;
  ElementType element = ElementType::F32;
  Dims row_dims;       // of one row
  uint64_t rows = 0;   // columns of one source may differ: only those that are fed together must agree
  absl::Status fault;  // why it cannot be fed: its files do not fit each other
};

// For messages: the file, or the first of several and how many more there are.
std::string NameOfFiles(const std::vector<std::string>& paths);

// Row r of every column belongs together. Threads may share a source.
class RowSource {
 public:
  virtual ~RowSource() = default;

  const std::vector<Column>& columns() const { return columns_; }
  // By name; nothing for none.
  std::optional<size_t> Find(std::string_view name) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].name == name) return i;
    }
    return std::nullopt;
  }

  // For messages, as NameOfFiles.
  virtual std::string name() const = 0;
  // For messages: where a row is, and its number there.
  struct Place {
    std::string text;  // "FILE: tensor 'x'"
    uint64_t row = 0;
  };
  virtual Place PlaceOf(size_t column, uint64_t row) const = 0;

  // Elements [first, first + n) of a row, in row-major order, as the column's type; n follows from the size of
  // `target`. Errors name the file.
  virtual absl::Status Read(size_t column, uint64_t row, uint64_t first, std::span<std::byte> target,
                            ReadWatch& watch) const = 0;
  // Lets the system begin to read `count` elements; errors show when they are read.
  virtual void Announce(size_t column, uint64_t row, uint64_t first, uint64_t count) const = 0;

  // InvalidArgument, with file and tensor, where a file holds rows of several of these columns and they are not the
  // same rows.
  virtual absl::Status CheckAligned(std::span<const size_t> columns) const { return absl::OkStatus(); }

  // See fingerprint.h: of all files.
  virtual absl::StatusOr<std::string> Fingerprint() const = 0;

 protected:
  std::vector<Column> columns_;
};

}  // namespace sgd::data
