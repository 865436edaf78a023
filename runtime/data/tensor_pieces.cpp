// An entry is named TENSOR@RANK: the last @ ends the tensor's name, so no two pieces have one name.
#include "runtime/data/tensor_pieces.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/json/parse_json.h"

namespace sgd::data {
namespace {

using Json = nlohmann::json;

struct PieceFacts {
  Dims dims;  // of the tensor
  Region region;
};

bool ReadNumber(const Json& json, uint64_t& number) {
  if (!json.is_number_unsigned()) return false;
  number = json.get<uint64_t>();
  return true;
}

bool ReadRanges(const Json& json, std::vector<RowRange>& ranges) {
  if (!json.is_array()) return false;
  for (const Json& pair : json) {
    RowRange range;
    if (!pair.is_array() || pair.size() != 2 || !ReadNumber(pair[0], range.first) || !ReadNumber(pair[1], range.count))
      return false;
    ranges.push_back(range);
  }
  return true;
}

std::optional<PieceFacts> ParsePiece(std::string_view text) {
  const absl::StatusOr<Json> json = json::ParseJson(text);
  if (!json.ok() || !json->is_object() || !json->contains("shape") || !json->contains("held")) return std::nullopt;
  const Json &shape = (*json)["shape"], &held = (*json)["held"];
  if (!shape.is_array() || !held.is_array()) return std::nullopt;
  PieceFacts facts;
  for (const Json& dim : shape) {
    if (!ReadNumber(dim, facts.dims.emplace_back())) return std::nullopt;
  }
  for (const Json& ranges : held) {
    if (!ReadRanges(ranges, facts.region.emplace_back())) return std::nullopt;
  }
  return facts;
}

}  // namespace

std::string PieceName(const std::string& tensor, uint32_t rank) { return absl::StrCat(tensor, "@", rank); }

std::string PieceText(const Dims& tensor_dims, const Region& region) {
  Json held = Json::array();
  for (const std::vector<RowRange>& ranges : region) {
    Json& of_dim = held.emplace_back(Json::array());
    for (const RowRange& range : ranges) of_dim.push_back(Json::array({range.first, range.count}));
  }
  return json::WriteJson(Json{{"shape", tensor_dims}, {"held", held}});
}

absl::StatusOr<std::unique_ptr<TensorPieces>> TensorPieces::Create(const std::string& path,
                                                                   std::vector<SafetensorsFile> files) {
  auto all = std::unique_ptr<TensorPieces>(new TensorPieces(std::move(files)));
  std::map<std::string, size_t> numbers;
  for (const SafetensorsFile& file : all->files_) {
    for (const TensorEntry& entry : file.tensors()) {
      absl::Status status = all->Take(file, entry, numbers);
      if (!status.ok()) return status;
    }
  }
  if (absl::Status status = all->CheckComplete(path); !status.ok()) return status;
  // In the order of names, as a file has them.
  std::vector<TensorEntry> tensors;
  for (const auto& [name, number] : numbers) tensors.push_back(all->tensors_[number]);
  all->tensors_ = std::move(tensors);
  return all;
}

absl::Status TensorPieces::Take(const SafetensorsFile& file, const TensorEntry& entry,
                                std::map<std::string, size_t>& numbers) {
  const auto fault = [&](const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": tensor ", QuotedName(entry.name), ": ", what...,
                     "; expected a file of a checkpoint that several ranks have written"));
  };
  const auto text = file.metadata().find(entry.name);
  const size_t at = entry.name.rfind('@');
  if (text == file.metadata().end() || at == std::string::npos) return fault("the metadata do not say what it is of");
  std::optional<PieceFacts> facts = ParsePiece(text->second);
  uint64_t bytes = 0;
  if (!facts || !ElementsWithin(facts->region, facts->dims) || DimsOf(facts->region) != entry.dims ||
      !TensorBytes(entry.element, facts->dims, bytes))
    return fault("the metadata do not fit it");
  const auto [number, is_new] = numbers.emplace(entry.name.substr(0, at), tensors_.size());
  if (is_new) {
    tensors_.push_back({number->first, entry.element, facts->dims, tensors_.size(), bytes});
    pieces_.emplace_back();
  }
  const TensorEntry& tensor = tensors_[number->second];
  if (tensor.element != entry.element || tensor.dims != facts->dims)
    return fault("is of another type than other pieces of ", QuotedName(tensor.name), ", ",
                 FileTypeText(tensor.element, tensor.dims));
  pieces_[number->second].push_back({&file, &entry, std::move(facts->region)});
  return absl::OkStatus();
}

// Writers have disjoint pieces: as many elements as the tensor has are all of them.
absl::Status TensorPieces::CheckComplete(const std::string& path) const {
  for (const TensorEntry& tensor : tensors_) {
    uint64_t bytes = 0;
    for (const Piece& piece : PiecesOf(tensor)) bytes += piece.entry->size;
    if (bytes == tensor.size) continue;
    return absl::InvalidArgumentError(absl::StrCat(path, ": the pieces of tensor ", QuotedName(tensor.name), " have ",
                                                   bytes, " bytes together; expected ", tensor.size,
                                                   "; resume from another checkpoint"));
  }
  return absl::OkStatus();
}

std::span<const std::byte> TensorPieces::Assemble(const TensorEntry& tensor) const {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = assembled_.try_emplace(tensor.offset);
  std::vector<std::byte>& bytes = at->second;
  if (!is_new) return bytes;
  bytes.resize(tensor.size);
  for (const Piece& piece : PiecesOf(tensor)) {
    const std::byte* from = piece.file->Bytes(*piece.entry).data();
    ForEachRunOfWhole(tensor.dims, artifact::ElementSize(tensor.element), piece.region,
                      [&](uint64_t in_tensor, uint64_t in_piece, uint64_t count) {
                        std::memcpy(bytes.data() + in_tensor, from + in_piece, count);
                      });
    piece.file->Release(*piece.entry);
  }
  return bytes;
}

absl::Status TensorPieces::fault() const {
  absl::Status fault;
  for (const SafetensorsFile& file : files_) fault.Update(file.fault());
  return fault;
}

void TensorPieces::Release(const TensorEntry& tensor) const {
  const std::lock_guard lock(mutex_);
  assembled_.erase(tensor.offset);
}

}  // namespace sgd::data
