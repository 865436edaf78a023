// Writes a safetensors file that several ranks fill together: made aside, filled through a shared
// mapping, then renamed at once.
//
//   rank 0: writer = TensorFileWriter::Create(path, specs)      others, after a barrier:
//   TensorFileWriter::Join(path, specs) each rank fills its part of Bytes(i); barrier; rank 0:
//   writer.Commit()
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {

// A tensor to be written.
struct TensorSpec {
  std::string name;
  ElementType element;
  Dims dims;

  bool operator==(const TensorSpec&) const = default;
};

using Metadata = std::map<std::string, std::string>;

class TensorFileWriter {
 public:
  TensorFileWriter(TensorFileWriter&& other) noexcept;
  TensorFileWriter& operator=(TensorFileWriter&& other) noexcept;
  // The creator's unfinished file is removed.
  ~TensorFileWriter();

  // Creates AsidePath(path) with the header and zeros; `path` is untouched until Commit. Tensors
  // are laid out by falling element size, then by name, so equal specs give equal bytes.
  // InvalidArgument for names that are equal or sizes that overflow; else the system's errors, a
  // full disk included.
  static absl::StatusOr<TensorFileWriter> Create(const std::string& path, std::vector<TensorSpec> specs,
                                                 const Metadata& metadata = {});

  // Another rank's view of the file that Create has made from the same specs and metadata.
  static absl::StatusOr<TensorFileWriter> Join(const std::string& path, std::vector<TensorSpec> specs,
                                               const Metadata& metadata = {});

  // The same file in memory that children of this process share, instead of one on a disk; there is nothing to commit.
  // Errors as of MappedFile::CreateInMemory.
  static absl::StatusOr<TensorFileWriter> CreateInMemory(std::vector<TensorSpec> specs, const Metadata& metadata);
  // The file's bytes, of which header and tensors are whole once all ranks have filled their parts.
  std::span<const std::byte> image() const { return file_.bytes(); }
  // Of a file in memory: opens it for reading, as long as this object lives.
  std::string PathInMemory() const { return file_.PathInMemory(); }

  const std::vector<TensorSpec>& specs() const { return specs_; }

  // The bytes of specs()[index]; parts that nobody fills stay zero.
  std::span<std::byte> Bytes(size_t index);
  std::span<const std::byte> Bytes(size_t index) const;

  // Of the creator, after all have filled their parts: syncs and renames.
  absl::Status Commit();

  // Path of the unfinished file.
  static std::string AsidePath(const std::string& path) { return path + ".partial"; }

  // Fails as Create would for a folder that is missing, read-only or full, without leaving anything
  // behind. Also refuses a `path` that exists and is not a regular file.
  static absl::Status CheckWritable(const std::string& path);

 private:
  TensorFileWriter() = default;
  static absl::StatusOr<TensorFileWriter> Make(const std::string& path, std::vector<TensorSpec> specs,
                                               const Metadata& metadata, bool create);

  std::string path_;
  bool is_creator_ = false;
  std::vector<TensorSpec> specs_;
  std::vector<uint64_t> offsets_;  // in the file, by spec
  MappedFile file_;
};

}  // namespace sgd::data
