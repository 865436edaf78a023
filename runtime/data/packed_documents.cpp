// The packing is made when the source is opened; a row's elements are put together when they are read.
#include "runtime/data/packed_documents.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/data/conversion.h"
#include "runtime/data/fingerprint.h"

namespace sgd::data {
namespace {

constexpr uint64_t kInt = sizeof(int32_t);

void FillWith(std::span<std::byte> target, int32_t value) {
  for (uint64_t at = 0; at < target.size(); at += kInt) std::memcpy(target.data() + at, &value, kInt);
}

// Calls `visit(index, value)` for each element of a list; ends with its first error. Reads a part of the list at a
// time.
template <typename Visit>
absl::Status ForEachInteger(const DataFiles& files, const DataTensor& list, const Visit& visit) {
  constexpr uint64_t kAtOnce = 1 << 16;
  const Conversion conversion{list.entry.element, ElementType::I64};
  const uint64_t size = artifact::ElementSize(conversion.from), count = list.entry.dims[0];
  std::vector<std::byte> elements(std::min(count, kAtOnce) * size);
  std::vector<int64_t> values(std::min(count, kAtOnce));
  ReadWatch watch;
  for (uint64_t begin = 0; begin < count; begin += kAtOnce) {
    const uint64_t part = std::min(count - begin, kAtOnce);
    absl::Status status = files.Read(list, begin * size, std::span(elements).first(part * size), watch);
    if (!status.ok()) return status;
    const std::optional<uint64_t> fault =
        Convert(conversion, elements.data(), part, reinterpret_cast<std::byte*>(values.data()));
    if (fault) {
      return absl::InvalidArgumentError(absl::StrCat(files.TextOf(list), ": element [", begin + *fault, "] is ",
                                                     ElementText(conversion.from, elements.data() + *fault * size),
                                                     "; expected the starts of documents"));
    }
    for (uint64_t i = 0; i < part; ++i) {
      if (status = visit(begin + i, values[i]); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<PackedDocuments>> PackedDocuments::Make(TokenFiles tokens, const Options& options) {
  auto source = std::unique_ptr<PackedDocuments>(new PackedDocuments(std::move(tokens), options));
  if (!options.starts.empty() && options.starts.size() != source->tokens_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(source->name(), ": there are ", source->tokens_.size(),
                                                   " files of tokens, but ", options.starts.size(),
                                                   " of the starts of documents; expected one for each"));
  }
  std::vector<Segment> pieces;
  uint64_t tokens_before = 0;
  for (size_t file = 0; file < source->tokens_.size(); ++file) {
    source->first_tokens_.push_back(tokens_before);
    if (absl::Status status = source->AddDocuments(file, pieces); !status.ok()) return status;
    tokens_before += source->tokens_.count(file);
  }
  if (pieces.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(source->name(), ": has no document of ",
                                                   options.has_targets ? "two tokens" : "a token",
                                                   "; expected one at least"));
  }
  source->packing_ = PackPieces(std::move(pieces), options.sequence);
  const auto add = [&](const char* name, Kind kind) {
    source->columns_.push_back({name, ElementType::I32, {options.sequence}, source->packing_.rows(), absl::OkStatus()});
    source->kinds_.push_back(kind);
  };
  add("tokens", kTokens);
  if (options.has_targets) add("targets", kTargets);
  add("segment_ids", kSegmentIds);
  add("positions", kPositions);
  return source;
}

absl::Status PackedDocuments::AddDocuments(size_t file, std::vector<Segment>& pieces) {
  DataFiles& files = tokens_.files();
  const std::string& path = options_.starts.empty() ? tokens_.path(file) : options_.starts[file];
  absl::StatusOr<DataTensor> list = OpenList(files, path, "offsets");
  if (!list.ok()) return list.status();
  starts_.push_back(*list);
  const uint64_t base = first_tokens_[file], tokens = tokens_.count(file);
  int64_t before = 0;
  absl::Status status = ForEachInteger(files, *list, [&](uint64_t i, int64_t start) {
    const auto fault = [&](const auto&... expected) {
      return absl::InvalidArgumentError(absl::StrCat(files.TextOf(*list), ": element [", i, "] is ", start,
                                                     "; expected the starts of documents, ", expected...));
    };
    if (i == 0 && start != 0) return fault("the first one at 0");
    if (start < before) return fault("in ascending order");
    if (static_cast<uint64_t>(start) > tokens) return fault("within the ", tokens, " tokens of the file");
    AddDocument(base + static_cast<uint64_t>(before), base + static_cast<uint64_t>(start), pieces);
    before = start;
    return absl::OkStatus();
  });
  if (status.ok() && list->entry.dims[0] > 0) AddDocument(base + static_cast<uint64_t>(before), base + tokens, pieces);
  return status;
}

void PackedDocuments::AddDocument(uint64_t begin, uint64_t end, std::vector<Segment>& pieces) const {
  if (options_.has_targets && begin < end) --end;
  for (; begin < end; begin += options_.sequence) pieces.push_back({begin, std::min(options_.sequence, end - begin)});
}

double PackedDocuments::fill() const {
  double tokens = 0;
  for (const Segment& segment : packing_.segments) tokens += static_cast<double>(segment.length);
  return tokens / (static_cast<double>(packing_.rows()) * static_cast<double>(options_.sequence));
}

size_t PackedDocuments::FileOf(uint64_t token) const {
  return static_cast<size_t>(std::ranges::upper_bound(first_tokens_, token) - first_tokens_.begin()) - 1;
}

RowSource::Place PackedDocuments::PlaceOf(size_t column, uint64_t row) const {
  const size_t file = FileOf(packing_.Row(row).front().begin);
  return {absl::StrCat(tokens_.path(file), ": packed rows of ", QuotedName(columns_[column].name)), row};
}

template <typename Visit>
absl::Status PackedDocuments::ForEachPart(uint64_t row, uint64_t first, uint64_t count, const Visit& visit) const {
  uint64_t begin = 0, number = 0;
  for (const Segment& segment : packing_.Row(row)) {
    const uint64_t from = std::max(begin, first), to = std::min(begin + segment.length, first + count);
    if (from < to) {
      absl::Status status = visit(Part{number, segment, from, to - from, from - begin});
      if (!status.ok()) return status;
    }
    begin += segment.length;
    ++number;
  }
  return absl::OkStatus();
}

absl::Status PackedDocuments::Read(size_t column, uint64_t row, uint64_t first, std::span<std::byte> target,
                                   ReadWatch& watch) const {
  const Kind kind = kinds_[column];
  FillWith(target, kind == kTokens ? options_.pad : kind == kTargets ? options_.ignored : 0);
  return ForEachPart(row, first, target.size() / kInt, [&](const Part& part) {
    const std::span<std::byte> bytes = target.subspan((part.begin - first) * kInt, part.count * kInt);
    if (kind == kTokens || kind == kTargets) {
      const uint64_t token = part.segment.begin + part.offset;
      const size_t file = FileOf(token);
      return tokens_.Read(file, token - first_tokens_[file] + (kind == kTargets ? 1 : 0), bytes, watch);
    }
    for (uint64_t i = 0; i < part.count; ++i) {
      const auto value = static_cast<int32_t>(kind == kSegmentIds ? part.number + 1 : part.offset + i);
      std::memcpy(bytes.data() + i * kInt, &value, kInt);
    }
    return absl::OkStatus();
  });
}

void PackedDocuments::Announce(size_t column, uint64_t row, uint64_t first, uint64_t count) const {
  if (kinds_[column] != kTokens) return;  // targets are the same tokens, but for one
  static_cast<void>(ForEachPart(row, first, count, [&](const Part& part) {
    const uint64_t token = part.segment.begin + part.offset;
    const size_t file = FileOf(token);
    tokens_.Announce(file, token - first_tokens_[file], part.count);
    return absl::OkStatus();
  }));
}

absl::StatusOr<std::string> PackedDocuments::Fingerprint() const {
  std::vector<DataTensor> tensors(tokens_.tensors().begin(), tokens_.tensors().end());
  tensors.insert(tensors.end(), starts_.begin(), starts_.end());
  return FingerprintOf(tokens_.files(), tensors);
}

}  // namespace sgd::data
