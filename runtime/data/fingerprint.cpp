// Samples are at multiples of a stride through the tensors' bytes, one tensor behind the other.
#include "runtime/data/fingerprint.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/container.h"

namespace sgd::data {
namespace {

constexpr uint64_t kSamples = 64, kSampleBytes = 16 << 10;

using Read = std::function<absl::Status(size_t entry, uint64_t offset, std::span<std::byte> target)>;

absl::StatusOr<std::string> HashSamples(const std::vector<const TensorEntry*>& entries, const Read& read) {
  std::string text;
  uint64_t total = 0;
  for (const TensorEntry* entry : entries) {
    absl::StrAppend(&text, entry->name.size(), ":", entry->name, " ", FileTypeText(entry->element, entry->dims), "\n");
    total += entry->size;
  }
  const uint64_t stride = std::max(kSampleBytes, total / kSamples);
  uint64_t begin = 0;  // of the tensor, among all bytes
  for (size_t i = 0; i < entries.size(); begin += entries[i]->size, ++i) {
    for (uint64_t at = (begin + stride - 1) / stride * stride; at < begin + entries[i]->size; at += stride) {
      std::string sample(std::min(kSampleBytes, begin + entries[i]->size - at), '\0');
      absl::Status status = read(i, at - begin, std::as_writable_bytes(std::span(sample)));
      if (!status.ok()) return status;
      text += sample;
    }
  }
  absl::StatusOr<artifact::Hash> hash = artifact::Sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  if (!hash.ok()) return hash.status();
  return artifact::HexHash(*hash).substr(0, 16);
}

}  // namespace

absl::StatusOr<std::string> FingerprintOf(const SafetensorsFile& file) {
  std::vector<const TensorEntry*> entries;
  for (const TensorEntry& entry : file.tensors()) entries.push_back(&entry);
  return HashSamples(entries, [&](size_t i, uint64_t offset, std::span<std::byte> target) {
    return file.Read(*entries[i], offset, target);
  });
}

absl::StatusOr<std::string> FingerprintOf(const DataFiles& files, std::span<const DataTensor> tensors) {
  std::vector<const TensorEntry*> entries;
  for (const DataTensor& tensor : tensors) entries.push_back(&tensor.entry);
  ReadWatch watch;
  return HashSamples(entries, [&](size_t i, uint64_t offset, std::span<std::byte> target) {
    return files.Read(tensors[i], offset, target, watch);
  });
}

}  // namespace sgd::data
