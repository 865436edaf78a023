// Reads safetensors files, which it does not trust: every size, offset, type and name is checked
// before a tensor is handed out. Format: 8 bytes little-endian header length, a JSON header, then
// the tensors' bytes (row-major, little-endian).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/element_type.h"
#include "runtime/data/mapped_file.h"

namespace sgd::data {

using artifact::ElementType;
using Dims = std::vector<uint64_t>;

// A tensor of a file. Its name may hold any character but is valid UTF-8.
struct TensorEntry {
  std::string name;
  ElementType element = ElementType::F32;
  Dims dims;
  uint64_t offset = 0;  // of its first byte in the file
  uint64_t size = 0;    // bytes: product of dims times the element's size
};

// The entry's dims where its bytes are those of a tensor of `element`: its own type, or C64 written as pairs of F32
// along a last dimension of two, which is how earlier versions wrote complex numbers.
std::optional<Dims> DimsAs(const TensorEntry& entry, ElementType element);

// "f32[128,64]", the way types are said in messages; "f32[]" is a scalar.
std::string TypeText(ElementType element, std::span<const uint64_t> dims);

// "F32[128,64]", as the files spell types: for messages that compare a file with a program.
std::string FileTypeText(ElementType element, std::span<const uint64_t> dims);

// `name` in quotes with control characters escaped and long names cut: safe inside a one-line
// message.
std::string QuotedName(std::string_view name);

// Product of dims times the element's size; false when it does not fit in 62 bits.
bool TensorBytes(ElementType element, std::span<const uint64_t> dims, uint64_t& bytes);

class TensorPieces;
class ZstdFrames;

class SafetensorsFile {
 public:
  // Errors are one line and begin with the path: the system's when it cannot be opened,
  // InvalidArgument for a header that is truncated, oversized, not JSON or contradictory; the
  // tensor at fault is named. As the format demands, tensors must cover the data exactly, without
  // holes and overlaps.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  // The same of a file that is compressed: `frames` are all of it, header included.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path, std::unique_ptr<ZstdFrames> frames);

  // The tensors of which `files` have pieces, as if one file had them: see tensor_pieces.h, also for errors.
  static absl::StatusOr<SafetensorsFile> Compose(const std::string& path, std::vector<SafetensorsFile> files);
  // Where the tensors' bytes are, of a composed one; else null.
  const TensorPieces* pieces() const { return pieces_.get(); }

  // By name; nullptr when there is none.
  const TensorEntry* Find(std::string_view name) const;

  // In the order of names.
  std::span<const TensorEntry> tensors() const { return tensors_; }

  // The bytes of an entry of this file; alive as long as the file object. They may be aligned to
  // nothing. Those of a composed or a compressed one are put together in memory first, and go when they are released;
  // what cannot be decompressed is zero, and fault() says so.
  std::span<const std::byte> Bytes(const TensorEntry& entry) const;

  // DataLoss where bytes that were asked for could not be decompressed. Whoever has used Bytes of a file that may be
  // compressed asks afterwards.
  absl::Status fault() const;

  // Reads the entry's bytes from `offset` on into `target`, which must be within it. The system's
  // error, or DataLoss when the file has become shorter since, or cannot be decompressed.
  absl::Status Read(const TensorEntry& entry, uint64_t offset, std::span<std::byte> target) const;

  // After an entry's bytes have been used: they no longer count as memory of this process, and are
  // read from the file again if they are needed again.
  void Release(const TensorEntry& entry) const;

  // The header's `__metadata__`.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  const std::string& path() const { return path_; }

 private:
  absl::Status ReadHeader();
  absl::Status CheckCoverage(uint64_t data_begin) const;
  uint64_t size() const;  // of the file, decompressed

  std::string path_;
  MappedFile file_;
  std::vector<TensorEntry> tensors_;
  std::map<std::string, std::string> metadata_;
  std::shared_ptr<const TensorPieces> pieces_;
  std::shared_ptr<const ZstdFrames> frames_;
};

}  // namespace sgd::data
