// Reads headers through mappings that end with the call, elements through the pool.
#include "runtime/data/data_files.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/data/npy.h"
#include "runtime/data/zip_directory.h"

namespace sgd::data {
namespace {

constexpr std::string_view kNpy = ".npy";

void RemoveNumber(std::string_view& name) {
  const size_t digits = name.find_last_not_of("0123456789");
  if (digits != std::string_view::npos && digits + 1 < name.size() && digits > 0 && name[digits] == '-')
    name = name.substr(0, digits);
}

// "x" of "folder/x-00001-of-00004.npy".
std::string NameOfFile(const std::string& path) {
  std::string_view name = path;
  name = name.substr(name.find_last_of('/') + 1);
  if (name.ends_with(kNpy)) name.remove_suffix(kNpy.size());
  std::string_view stem = name;
  RemoveNumber(stem);
  if (stem.size() < name.size() && stem.ends_with("-of")) {
    name = stem.substr(0, stem.size() - 3);
    stem = name;
    RemoveNumber(stem);
  }
  return std::string(stem);
}

absl::Status At(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::vector<DataTensor>> DataFiles::Open(const std::string& path) {
  absl::StatusOr<size_t> file = pool_.Add(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::vector<DataTensor>> tensors =
      artifact::WithMemoryFor(path.c_str(), [&] { return OpenMapped(path); });
  if (!tensors.ok()) return tensors.status();
  for (DataTensor& tensor : *tensors) tensor.file = *file;
  if (absl::Status status = Load(*file, *tensors); !status.ok()) return status;
  return tensors;
}

absl::Status DataFiles::Load(size_t file, std::span<DataTensor> tensors) {
  if (pool_.size(file) > limits_.loaded - loaded_) return absl::OkStatus();
  loaded_ += pool_.size(file);
  ReadWatch watch;
  for (DataTensor& tensor : tensors) {
    if (tensor.memory) continue;
    std::vector<std::byte> bytes(tensor.entry.size);
    if (absl::Status status = Read(tensor, 0, bytes, watch); !status.ok()) return status;
    tensor.memory = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    tensor.entry.offset = 0;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DataTensor>> DataFiles::OpenMapped(const std::string& path) {
  absl::StatusOr<MappedFile> mapped = MappedFile::OpenForReading(path);
  if (!mapped.ok()) return mapped.status();
  const std::span<const std::byte> bytes = mapped->bytes();
  if (IsNpy(bytes)) {
    absl::StatusOr<TensorEntry> entry =
        ReadNpyHeader(bytes.first(std::min(bytes.size(), kMostNpyHeader)), bytes.size());
    if (!entry.ok()) return At(path, entry.status());
    entry->name = NameOfFile(path);
    return std::vector<DataTensor>{{*std::move(entry), 0, nullptr}};
  }
  if (IsZip(bytes)) {
    absl::StatusOr<std::vector<DataTensor>> tensors = OpenZip(bytes);
    return tensors.ok() ? std::move(tensors) : At(path, tensors.status());
  }
  absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  std::vector<DataTensor> tensors;
  for (const TensorEntry& entry : file->tensors()) tensors.push_back({entry, 0, nullptr});
  return tensors;
}

absl::StatusOr<std::vector<DataTensor>> DataFiles::OpenZip(std::span<const std::byte> archive) {
  absl::StatusOr<std::vector<ZipMember>> members = ReadZipDirectory(archive);
  if (!members.ok()) return members.status();
  std::vector<DataTensor> tensors;
  for (const ZipMember& member : *members) {
    DataTensor& tensor = tensors.emplace_back();
    std::span<const std::byte> bytes = archive.subspan(member.offset, member.stored_size);
    if (member.is_deflated) {
      if (member.size > limits_.inflated - inflated_) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "member ", QuotedName(member.name), ": compressed members of the data are kept in memory, at most ",
            limits_.inflated, " bytes, and this one takes ", member.size, " beside ", inflated_,
            " of others; store it uncompressed, by numpy.savez or numpy.save"));
      }
      absl::StatusOr<std::vector<std::byte>> inflated = Inflate(archive, member);
      if (!inflated.ok()) return inflated.status();
      inflated_ += member.size;
      tensor.memory = std::make_shared<const std::vector<std::byte>>(*std::move(inflated));
      bytes = *tensor.memory;
    }
    absl::StatusOr<TensorEntry> entry =
        ReadNpyHeader(bytes.first(std::min(bytes.size(), kMostNpyHeader)), bytes.size());
    if (!entry.ok()) return At(absl::StrCat("member ", QuotedName(member.name)), entry.status());
    tensor.entry = *std::move(entry);
    if (!member.is_deflated) tensor.entry.offset += member.offset;
    tensor.entry.name = NameOfFile(member.name);
  }
  std::ranges::sort(tensors, {}, [](const DataTensor& tensor) -> const std::string& { return tensor.entry.name; });
  const auto twice =
      std::ranges::adjacent_find(tensors, {}, [](const DataTensor& tensor) { return tensor.entry.name; });
  if (twice != tensors.end()) {
    return absl::InvalidArgumentError(absl::StrCat("has two members for the tensor ", QuotedName(twice->entry.name),
                                                   "; expected one; write it by numpy.savez"));
  }
  return tensors;
}

absl::StatusOr<DataTensor> DataFiles::OpenRaw(const std::string& path, ElementType element) {
  absl::StatusOr<size_t> file = pool_.Add(path);
  if (!file.ok()) return file.status();
  const uint64_t bytes = pool_.size(*file), size = artifact::ElementSize(element);
  if (bytes % size != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has ", bytes, " bytes, which is no number of ",
                                                   artifact::SafetensorsName(element), ", ", size,
                                                   " bytes each; it is truncated, or of another type"));
  }
  DataTensor tensor{
      {.name = "", .element = element, .dims = {bytes / size}, .offset = 0, .size = bytes}, *file, nullptr};
  if (absl::Status status = Load(*file, {&tensor, 1}); !status.ok()) return status;
  return tensor;
}

std::string DataFiles::TextOf(const DataTensor& tensor) const {
  return absl::StrCat(path(tensor), ": tensor ", QuotedName(tensor.entry.name));
}

absl::Status DataFiles::Read(const DataTensor& tensor, uint64_t offset, std::span<std::byte> target,
                             ReadWatch& watch) const {
  if (target.empty()) return absl::OkStatus();
  const uint64_t begin = tensor.entry.offset + offset;
  if (!tensor.memory) return pool_.Read(tensor.file, begin, target, watch);
  std::memcpy(target.data(), tensor.memory->data() + begin, target.size());
  return absl::OkStatus();
}

void DataFiles::Announce(const DataTensor& tensor, uint64_t offset, uint64_t size) const {
  if (!tensor.memory) pool_.Announce(tensor.file, tensor.entry.offset + offset, size);
}

}  // namespace sgd::data
