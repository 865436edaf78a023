// Samples are at multiples of a stride through the tensors' bytes, one tensor behind the other.
#include "runtime/data/fingerprint.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/container.h"

namespace sgd::data {
namespace {

constexpr uint64_t kSamples = 64, kSampleBytes = 16 << 10;

}  // namespace

absl::StatusOr<std::string> FingerprintOf(const SafetensorsFile& file) {
  std::string text;
  uint64_t total = 0;
  for (const TensorEntry& entry : file.tensors()) {
    absl::StrAppend(&text, entry.name.size(), ":", entry.name, " ", FileTypeText(entry.element, entry.dims), "\n");
    total += entry.size;
  }
  const uint64_t stride = std::max(kSampleBytes, total / kSamples);
  uint64_t begin = 0;  // of the tensor, among all bytes
  for (const TensorEntry& entry : file.tensors()) {
    for (uint64_t at = (begin + stride - 1) / stride * stride; at < begin + entry.size; at += stride) {
      std::string sample(std::min(kSampleBytes, begin + entry.size - at), '\0');
      absl::Status status = file.Read(entry, at - begin, std::as_writable_bytes(std::span(sample)));
      if (!status.ok()) return status;
      text += sample;
    }
    begin += entry.size;
  }
  absl::StatusOr<artifact::Hash> hash = artifact::Sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  if (!hash.ok()) return hash.status();
  return artifact::HexHash(*hash).substr(0, 16);
}

}  // namespace sgd::data
