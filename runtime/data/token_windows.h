// Rows that are windows over files of tokens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/row_source.h"
#include "runtime/data/token_files.h"

namespace sgd::data {

// Row w of a file has its tokens [w * stride, w * stride + sequence), and as targets the same one token further on. No
// row spans two files; tokens that fill no row are left out. Columns: `tokens` and, if asked for, `targets`, of I32.
class TokenWindows : public RowSource {
 public:
  struct Shape {
    uint64_t sequence = 0;  // 1 or more
    uint64_t stride = 0;    // 1 or more
    bool has_targets = false;
  };
  // InvalidArgument where no file is long enough for a row.
  static absl::StatusOr<std::unique_ptr<TokenWindows>> Make(TokenFiles tokens, const Shape& shape);

  std::string name() const override { return tokens_.name(); }
  Place PlaceOf(size_t column, uint64_t row) const override;
  absl::Status Read(size_t column, uint64_t row, uint64_t first, std::span<std::byte> target,
                    ReadWatch& watch) const override;
  void Announce(size_t column, uint64_t row, uint64_t first, uint64_t count) const override;
  absl::StatusOr<std::string> Fingerprint() const override;

 private:
  struct Window {
    size_t file;
    uint64_t number;  // in the file
  };

  TokenWindows(TokenFiles tokens, const Shape& shape) : tokens_(std::move(tokens)), shape_(shape) {}
  Window WindowOf(uint64_t row) const;

  const TokenFiles tokens_;
  const Shape shape_;
  std::vector<uint64_t> first_rows_;  // by file
};

}  // namespace sgd::data
