// Global tensors in pieces, which lie in several files of safetensors: each file is whole by itself, and its metadata
// say which elements of which tensor its entries are.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/region.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {

// The name of the entry that has the piece of `tensor` which rank `rank` has written, and what the metadata say of it.
std::string PieceName(const std::string& tensor, uint32_t rank);
std::string PieceText(const Dims& tensor_dims, const Region& region);

class TensorPieces {
 public:
  struct Piece {
    const SafetensorsFile* file;
    const TensorEntry* entry;  // of `file`; its elements are those of `region`, in row-major order
    Region region;
  };

  // InvalidArgument, beginning with the path of the file at fault, for metadata that are missing or do not fit their
  // entry, pieces of one name that are of different tensors, and tensors of which elements are missing or there twice.
  // `path` is where the files are, for messages.
  static absl::StatusOr<std::unique_ptr<TensorPieces>> Create(const std::string& path,
                                                              std::vector<SafetensorsFile> files);

  // The tensors, by name; `offset` is the number of the tensor.
  std::span<const TensorEntry> tensors() const { return tensors_; }
  std::span<const Piece> PiecesOf(const TensorEntry& tensor) const { return pieces_[tensor.offset]; }
  // All of a tensor in memory, until it is released. Any thread.
  std::span<const std::byte> Assemble(const TensorEntry& tensor) const;
  void Release(const TensorEntry& tensor) const;
  // Of any file: see SafetensorsFile.
  absl::Status fault() const;

 private:
  explicit TensorPieces(std::vector<SafetensorsFile> files) : files_(std::move(files)) {}
  absl::Status Take(const SafetensorsFile& file, const TensorEntry& entry, std::map<std::string, size_t>& numbers);
  absl::Status CheckComplete(const std::string& path) const;

  const std::vector<SafetensorsFile> files_;
  std::vector<TensorEntry> tensors_;
  std::vector<std::vector<Piece>> pieces_;  // by tensor
  mutable std::mutex mutex_;
  mutable std::map<uint64_t, std::vector<std::byte>> assembled_;  // by tensor
};

}  // namespace sgd::data
