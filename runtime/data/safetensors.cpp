// The safetensors header, parsed without exceptions and checked field by field.
#include "runtime/data/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/data/tensor_pieces.h"
#include "runtime/data/zstd_frames.h"
#include "runtime/json/parse_json.h"

static_assert(std::endian::native == std::endian::little, "tensor files are little-endian");

namespace sgd::data {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's reference implementation
constexpr size_t kMaxRank = 64;

// Reads a list of unsigned numbers.
bool ReadNumbers(const Json& object, const char* key, std::vector<uint64_t>& numbers) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() > kMaxRank) return false;
  for (const Json& number : *found) {
    if (!number.is_number_unsigned()) return false;
    numbers.push_back(number.get<uint64_t>());
  }
  return true;
}

// One header field, offsets still relative to the data; an empty string or what is wrong.
std::string ReadEntry(const Json& field, TensorEntry& entry) {
  if (!field.is_object()) return "its entry is not an object";
  auto dtype = field.find("dtype");
  if (dtype == field.end() || !dtype->is_string()) return "has no dtype";
  const std::optional<ElementType> element = artifact::ElementFromSafetensors(dtype->get<std::string>());
  if (!element) {
    return absl::StrCat("has dtype ", QuotedName(dtype->get<std::string>()), ", which is not supported");
  }
  entry.element = *element;
  if (!ReadNumbers(field, "shape", entry.dims)) {
    return absl::StrCat("its shape is not a list of at most ", kMaxRank, " unsigned numbers");
  }
  std::vector<uint64_t> offsets;
  if (!ReadNumbers(field, "data_offsets", offsets) || offsets.size() != 2 || offsets[0] > offsets[1]) {
    return "its data_offsets are not two ascending numbers";
  }
  entry.offset = offsets[0];
  entry.size = offsets[1] - offsets[0];
  uint64_t expected = 0;
  if (!TensorBytes(entry.element, entry.dims, expected)) return "its shape overflows";
  if (expected != entry.size) {
    return absl::StrCat(FileTypeText(entry.element, entry.dims), " takes ", expected,
                        " bytes, but its data_offsets span ", entry.size);
  }
  return "";
}

}  // namespace

std::string TypeText(ElementType element, std::span<const uint64_t> dims) {
  return absl::StrCat(artifact::ElementName(element), "[", absl::StrJoin(dims, ","), "]");
}

std::string FileTypeText(ElementType element, std::span<const uint64_t> dims) {
  return absl::StrCat(artifact::SafetensorsName(element), "[", absl::StrJoin(dims, ","), "]");
}

std::string QuotedName(std::string_view name) {
  constexpr size_t kLongest = 200;
  std::string text = absl::Utf8SafeCHexEscape(absl::string_view(name.data(), std::min(name.size(), kLongest)));
  // Quotes inside names (params['w']) are read more easily unescaped.
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\'' || text[i + 1] == '"')) continue;
    plain += text[i];
  }
  return absl::StrCat("'", plain, name.size() > kLongest ? "...'" : "'");
}

bool TensorBytes(ElementType element, std::span<const uint64_t> dims, uint64_t& bytes) {
  constexpr uint64_t kLimit = uint64_t{1} << 62;
  bytes = artifact::ElementSize(element);
  // A zero makes the tensor empty, whatever the other sizes are.
  if (std::ranges::find(dims, 0u) != dims.end()) {
    bytes = 0;
    return true;
  }
  for (uint64_t dim : dims) {
    if (dim > kLimit / bytes) return false;
    bytes *= dim;
  }
  return true;
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  SafetensorsFile file;
  file.path_ = path;
  absl::StatusOr<MappedFile> mapped = MappedFile::OpenForReading(path);
  if (!mapped.ok()) return mapped.status();
  file.file_ = *std::move(mapped);
  absl::Status status = artifact::WithMemoryFor("its header", [&] { return file.ReadHeader(); });
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  return file;
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path, std::unique_ptr<ZstdFrames> frames) {
  SafetensorsFile file;
  file.path_ = path;
  file.frames_ = std::move(frames);
  absl::Status status = artifact::WithMemoryFor("its header", [&] { return file.ReadHeader(); });
  if (status.ok()) return file;
  // Errors of decompression name the path already.
  return absl::IsDataLoss(status) ? status : absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

uint64_t SafetensorsFile::size() const { return frames_ != nullptr ? frames_->size() : file_.bytes().size(); }

absl::Status SafetensorsFile::ReadHeader() {
  if (size() < kLengthBytes) {
    return absl::InvalidArgumentError(size() == 0
                                          ? "is empty; expected a safetensors file; write or copy it again"
                                          : "not a safetensors file: shorter than 8 bytes; write or copy it again");
  }
  const auto read = [this](uint64_t at, std::span<std::byte> target) {
    if (frames_ != nullptr) return frames_->Read(at, target);
    std::ranges::copy(file_.bytes().subspan(at, target.size()), target.begin());
    return absl::OkStatus();
  };
  uint64_t length = 0;
  if (absl::Status status = read(0, std::as_writable_bytes(std::span(&length, 1))); !status.ok()) return status;
  if (length > kMaxHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat("not a safetensors file: its header would take ", length,
                                                   " bytes, more than ", kMaxHeaderBytes,
                                                   "; expected a file that the safetensors library wrote"));
  }
  if (length > size() - kLengthBytes) {
    return absl::InvalidArgumentError(absl::StrCat("truncated: the header takes ", length, " bytes, the file has ",
                                                   size() - kLengthBytes, " after its length"));
  }
  std::string text(length, '\0');
  if (absl::Status status = read(kLengthBytes, std::as_writable_bytes(std::span(text))); !status.ok()) return status;
  const absl::StatusOr<Json> header = json::ParseJson(text, json::kAnyFields);
  if (!header.ok()) return absl::InvalidArgumentError(absl::StrCat("its header is ", header.status().message()));
  if (!header->is_object()) return absl::InvalidArgumentError("its header is not a JSON object");
  const uint64_t data_begin = kLengthBytes + length;
  for (const auto& [name, field] : header->items()) {
    if (name == "__metadata__") {
      if (!field.is_object()) return absl::InvalidArgumentError("its __metadata__ is not an object");
      for (const auto& [key, value] : field.items()) {
        if (!value.is_string()) return absl::InvalidArgumentError("its __metadata__ holds more than strings");
        metadata_[key] = value.get<std::string>();
      }
      continue;
    }
    TensorEntry entry;
    entry.name = name;
    std::string fault = ReadEntry(field, entry);
    if (fault.empty() && entry.offset + entry.size > size() - data_begin) {
      fault = absl::StrCat("ends at byte ", entry.offset + entry.size, " of the data, but the file has only ",
                           size() - data_begin, "; it is truncated");
    }
    if (!fault.empty()) return absl::InvalidArgumentError(absl::StrCat("tensor ", QuotedName(name), ": ", fault));
    entry.offset += data_begin;
    tensors_.push_back(std::move(entry));
  }
  return CheckCoverage(data_begin);
}

absl::Status SafetensorsFile::CheckCoverage(uint64_t data_begin) const {
  std::vector<const TensorEntry*> by_offset;
  for (const TensorEntry& entry : tensors_) by_offset.push_back(&entry);
  std::ranges::sort(by_offset, {}, [](const TensorEntry* entry) { return std::pair(entry->offset, entry->size); });
  uint64_t end = data_begin;
  for (const TensorEntry* entry : by_offset) {
    if (entry->offset != end) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", QuotedName(entry->name), ": begins at byte ", entry->offset - data_begin,
                       " of the data, but the tensors before it end at ", end - data_begin));
    }
    end += entry->size;
  }
  if (end != size()) {
    return absl::InvalidArgumentError(absl::StrCat(size() - end, " bytes after the last tensor belong to no tensor"));
  }
  return absl::OkStatus();
}

std::optional<Dims> DimsAs(const TensorEntry& entry, ElementType element) {
  if (entry.element == element) return entry.dims;
  const bool is_pairs =
      element == ElementType::C64 && entry.element == ElementType::F32 && !entry.dims.empty() && entry.dims.back() == 2;
  if (!is_pairs) return std::nullopt;
  return Dims(entry.dims.begin(), entry.dims.end() - 1);
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::Compose(const std::string& path, std::vector<SafetensorsFile> files) {
  absl::StatusOr<std::unique_ptr<TensorPieces>> pieces = TensorPieces::Create(path, std::move(files));
  if (!pieces.ok()) return pieces.status();
  SafetensorsFile file;
  file.path_ = path;
  file.tensors_.assign((*pieces)->tensors().begin(), (*pieces)->tensors().end());
  file.pieces_ = *std::move(pieces);
  return file;
}

std::span<const std::byte> SafetensorsFile::Bytes(const TensorEntry& entry) const {
  if (frames_ != nullptr) return frames_->Keep(entry.offset, entry.size);
  return pieces_ != nullptr ? pieces_->Assemble(entry) : file_.bytes().subspan(entry.offset, entry.size);
}

absl::Status SafetensorsFile::fault() const {
  if (frames_ != nullptr) return frames_->fault();
  return pieces_ != nullptr ? pieces_->fault() : absl::OkStatus();
}

absl::Status SafetensorsFile::Read(const TensorEntry& entry, uint64_t offset, std::span<std::byte> target) const {
  if (frames_ != nullptr) return frames_->Read(entry.offset + offset, target);
  if (pieces_ == nullptr) return file_.Read(path_, entry.offset + offset, target);
  std::ranges::copy(pieces_->Assemble(entry).subspan(offset, target.size()), target.begin());
  return absl::OkStatus();
}

void SafetensorsFile::Release(const TensorEntry& entry) const {
  if (frames_ != nullptr) return frames_->Forget(entry.offset, entry.size);
  if (pieces_ != nullptr) return pieces_->Release(entry);
  file_.Release(Bytes(entry));
}

const TensorEntry* SafetensorsFile::Find(std::string_view name) const {
  auto at = std::ranges::lower_bound(tensors_, name, {}, &TensorEntry::name);
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

}  // namespace sgd::data
