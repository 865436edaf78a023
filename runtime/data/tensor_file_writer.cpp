// Layout, header and atomic replacement of a safetensors file.
#include "runtime/data/tensor_file_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/replace_file.h"
#include "runtime/json/json_text.h"

namespace sgd::data {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Layout {
  std::string header;             // with the leading length
  std::vector<uint64_t> offsets;  // in the file, by spec
  uint64_t file_size = 0;
};

void AppendMember(const OrderedJson& name, const OrderedJson& value, std::string& object) {
  absl::StrAppend(&object, object.size() > 1 ? "," : "", json::WriteJson(name), ":", json::WriteJson(value));
}

absl::StatusOr<Layout> LayOut(const std::vector<TensorSpec>& specs, const Metadata& metadata) {
  std::vector<size_t> order(specs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) {
    return std::tuple(-static_cast<int64_t>(artifact::ElementSize(specs[i].element)), specs[i].name);
  });

  Layout layout;
  layout.offsets.resize(specs.size());
  // Member by member: an ordered object of this library looks through all members before it takes another.
  std::string text = "{";
  if (!metadata.empty()) AppendMember("__metadata__", metadata, text);
  std::set<std::string> names = {"__metadata__"};
  uint64_t end = 0;
  for (size_t i : order) {
    const TensorSpec& spec = specs[i];
    if (!names.insert(spec.name).second) {
      return absl::InvalidArgumentError(absl::StrCat("two tensors would be named ", QuotedName(spec.name)));
    }
    uint64_t size = 0;
    if (!TensorBytes(spec.element, spec.dims, size) || end + size > uint64_t{1} << 62) {
      return absl::InvalidArgumentError(absl::StrCat("tensor ", QuotedName(spec.name), ": its size overflows"));
    }
    const OrderedJson entry = {
        {"dtype", artifact::SafetensorsName(spec.element)}, {"shape", spec.dims}, {"data_offsets", {end, end + size}}};
    AppendMember(spec.name, entry, text);
    layout.offsets[i] = end;
    end += size;
  }

  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  layout.header.assign(reinterpret_cast<const char*>(&length), sizeof(length));
  layout.header += text;
  for (uint64_t& offset : layout.offsets) offset += layout.header.size();
  layout.file_size = layout.header.size() + end;
  return layout;
}

}  // namespace

TensorFileWriter::TensorFileWriter(TensorFileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      is_creator_(std::exchange(other.is_creator_, false)),
      specs_(std::move(other.specs_)),
      offsets_(std::move(other.offsets_)),
      file_(std::move(other.file_)) {}

TensorFileWriter& TensorFileWriter::operator=(TensorFileWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(is_creator_, other.is_creator_);
  std::swap(specs_, other.specs_);
  std::swap(offsets_, other.offsets_);
  std::swap(file_, other.file_);
  return *this;
}

TensorFileWriter::~TensorFileWriter() {
  if (is_creator_) unlink(AsidePath(path_).c_str());
}

absl::StatusOr<TensorFileWriter> TensorFileWriter::Make(const std::string& path, std::vector<TensorSpec> specs,
                                                        const Metadata& metadata, bool create) {
  absl::StatusOr<Layout> layout = LayOut(specs, metadata);
  if (!layout.ok()) {
    return absl::Status(layout.status().code(), absl::StrCat(path, ": ", layout.status().message()));
  }
  // The file behind a link is replaced, and not the link.
  const absl::StatusOr<std::string> resolved = artifact::ResolveLinks(path);
  if (!resolved.ok()) return resolved.status();
  const std::string aside = AsidePath(*resolved);
  absl::StatusOr<MappedFile> file =
      create ? MappedFile::CreateShared(aside, layout->file_size) : MappedFile::JoinShared(aside, layout->file_size);
  if (!file.ok()) return file.status();
  if (create) std::memcpy(file->mutable_bytes().data(), layout->header.data(), layout->header.size());
  TensorFileWriter writer;
  writer.path_ = *resolved;
  writer.is_creator_ = create;
  writer.specs_ = std::move(specs);
  writer.offsets_ = std::move(layout->offsets);
  writer.file_ = *std::move(file);
  return writer;
}

absl::StatusOr<TensorFileWriter> TensorFileWriter::Create(const std::string& path, std::vector<TensorSpec> specs,
                                                          const Metadata& metadata) {
  return Make(path, std::move(specs), metadata, /*create=*/true);
}

absl::StatusOr<TensorFileWriter> TensorFileWriter::Join(const std::string& path, std::vector<TensorSpec> specs,
                                                        const Metadata& metadata) {
  return Make(path, std::move(specs), metadata, /*create=*/false);
}

absl::StatusOr<TensorFileWriter> TensorFileWriter::CreateInMemory(std::vector<TensorSpec> specs,
                                                                  const Metadata& metadata) {
  TensorFileWriter writer;
  writer.path_ = "the copy of the state in memory";
  absl::StatusOr<Layout> layout = LayOut(specs, metadata);
  if (!layout.ok()) return layout.status();
  absl::StatusOr<MappedFile> file = MappedFile::CreateInMemory(writer.path_, layout->file_size);
  if (!file.ok()) return file.status();
  std::memcpy(file->mutable_bytes().data(), layout->header.data(), layout->header.size());
  writer.specs_ = std::move(specs);
  writer.offsets_ = std::move(layout->offsets);
  writer.file_ = *std::move(file);
  return writer;
}

std::span<std::byte> TensorFileWriter::Bytes(size_t index) {
  uint64_t size = 0;
  TensorBytes(specs_[index].element, specs_[index].dims, size);
  return file_.mutable_bytes().subspan(offsets_[index], size);
}

std::span<const std::byte> TensorFileWriter::Bytes(size_t index) const {
  uint64_t size = 0;
  TensorBytes(specs_[index].element, specs_[index].dims, size);
  return file_.bytes().subspan(offsets_[index], size);
}

absl::Status TensorFileWriter::Commit() {
  const std::string aside = AsidePath(path_);
  absl::Status status = file_.Sync(aside);
  if (!status.ok()) return status;
  if (rename(aside.c_str(), path_.c_str()) != 0) return SystemError(path_, "replace", errno);
  is_creator_ = false;
  return SyncDirectory(DirectoryOf(path_));
}

absl::Status TensorFileWriter::CheckWritable(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be replaced by a file of tensors: it is not a regular file"));
  }
  absl::StatusOr<TensorFileWriter> probe = Create(path, {});
  return probe.status();
}

}  // namespace sgd::data
