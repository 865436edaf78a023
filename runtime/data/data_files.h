// The files of a data set: safetensors, .npy, .npz and files of nothing but numbers. When a file is
// opened, its headers are read, and a small file as a whole. Nothing stays mapped, and few files stay open: there may
// be any number of them, of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/file_pool.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {

// A tensor of a file. `entry.offset` counts in the file, or in `memory` where the tensor is there.
struct DataTensor {
  TensorEntry entry;
  size_t file = 0;  // of the pool
  std::shared_ptr<const std::vector<std::byte>> memory;
};

class DataFiles {
 public:
  // Bytes that are kept in memory, of all files together.
  struct Limits {
    uint64_t inflated;  // compressed members, which can only be there
    uint64_t loaded;    // small files, whose rows would take longer to ask for than to copy
  };
  static constexpr Limits kLimits{.inflated = uint64_t{1} << 30, .loaded = uint64_t{64} << 20};
  explicit DataFiles(const Limits& limits = kLimits) : limits_(limits) {}

  // The tensors of a safetensors, .npy or .npz file; its first bytes say which it is. The tensor of a .npy file has the
  // file's name without folder and ending, and without the number of a shard ("x" of "x-00001-of-00004.npy"), that of a
  // member of an .npz file the member's. Errors are one line that begins with the path: the system's, and
  // InvalidArgument or DataLoss for files that are damaged or not supported.
  absl::StatusOr<std::vector<DataTensor>> Open(const std::string& path);

  // A file of elements of one type and nothing else: one dimension, no name. InvalidArgument where the last one is cut.
  absl::StatusOr<DataTensor> OpenRaw(const std::string& path, ElementType element);

  const std::string& path(const DataTensor& tensor) const { return pool_.path(tensor.file); }
  // "FILE: tensor 'x'".
  std::string TextOf(const DataTensor& tensor) const;

  // The tensor's bytes from `offset` on; within the tensor. Errors as of FilePool::Read.
  absl::Status Read(const DataTensor& tensor, uint64_t offset, std::span<std::byte> target, ReadWatch& watch) const;
  // Lets the system begin to read them.
  void Announce(const DataTensor& tensor, uint64_t offset, uint64_t size) const;

 private:
  absl::StatusOr<std::vector<DataTensor>> OpenMapped(const std::string& path);
  absl::StatusOr<std::vector<DataTensor>> OpenZip(std::span<const std::byte> archive);

  // Where the file is small, its tensors' bytes go to memory. Errors as of FilePool::Read.
  absl::Status Load(size_t file, std::span<DataTensor> tensors);

  const Limits limits_;
  uint64_t inflated_ = 0, loaded_ = 0;
  FilePool pool_;
};

}  // namespace sgd::data
