// Rows into which whole documents are packed, with the numbers that keep them apart.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/packing.h"
#include "runtime/data/row_source.h"
#include "runtime/data/token_files.h"

namespace sgd::data {

// Columns of I32, of `sequence` elements each:
//   tokens       those of the row's segments, then `pad`
//   targets      if asked for: the token behind each in its document, then `ignored`
//   segment_ids  1 for the first segment of the row, 2 for the next, ..., 0 for padding
//   positions    from 0 in each segment; 0 for padding
// A segment is a document, or a piece of one that is longer than a row. With targets the last token of a document,
// which has none, is a target alone. The rows depend on the lengths of documents alone.
class PackedDocuments : public RowSource {
 public:
  struct Options {
    uint64_t sequence = 0;  // 1 or more
    bool has_targets = false;
    int32_t pad = 0;
    int32_t ignored = -100;
    std::vector<std::string>
        starts;  // a file for each of the tokens' files; empty: a tensor `offsets` in each of those
  };
  // The starts of documents are a list of integers from 0 on, in ascending order; the number of tokens may be behind
  // the last one. InvalidArgument, with the file, for other lists, and where there is no document. Takes 16 bytes of
  // memory for each document.
  static absl::StatusOr<std::unique_ptr<PackedDocuments>> Make(TokenFiles tokens, const Options& options);

  // Of all elements of the rows, the part that is no padding.
  double fill() const;

  std::string name() const override { return tokens_.name(); }
  Place PlaceOf(size_t column, uint64_t row) const override;
  absl::Status Read(size_t column, uint64_t row, uint64_t first, std::span<std::byte> target,
                    ReadWatch& watch) const override;
  void Announce(size_t column, uint64_t row, uint64_t first, uint64_t count) const override;
  absl::StatusOr<std::string> Fingerprint() const override;

 private:
  enum Kind { kTokens, kTargets, kSegmentIds, kPositions };
  // A part of a segment: elements [begin, begin + count) of the row, which are its `offset`th and following ones.
  struct Part {
    uint64_t number;  // of the segment in its row, from 0
    Segment segment;
    uint64_t begin, count, offset;
  };
  template <typename Visit>
  absl::Status ForEachPart(uint64_t row, uint64_t first, uint64_t count, const Visit& visit) const;

  PackedDocuments(TokenFiles tokens, const Options& options) : tokens_(std::move(tokens)), options_(options) {}
  absl::Status AddDocuments(size_t file, std::vector<Segment>& pieces);
  void AddDocument(uint64_t begin, uint64_t end, std::vector<Segment>& pieces) const;
  size_t FileOf(uint64_t token) const;

  const TokenFiles tokens_;
  const Options options_;
  std::vector<uint64_t> first_tokens_;  // by file, among those of all files
  std::vector<DataTensor> starts_;
  std::vector<Kind> kinds_;  // by column
  Packing packing_;
};

}  // namespace sgd::data
