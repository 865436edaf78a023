// Reads many files through few descriptors. A file must stay what it was when it was added.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/data/read_watch.h"

namespace sgd::data {

// Threads and forked processes may share a pool.
class FilePool {
 public:
  // At most `most_open` descriptors stay open.
  explicit FilePool(size_t most_open = 64) : most_open_(most_open) {}

  // Opens a regular file; returns its number, from 0. The system's error with the path, or InvalidArgument for what is
  // no regular file.
  absl::StatusOr<size_t> Add(const std::string& path);

  const std::string& path(size_t file) const { return files_[file].path; }
  uint64_t size(size_t file) const { return static_cast<uint64_t>(files_[file].info.st_size); }

  // Reads target.size() bytes from `offset` on. The system's error; DataLoss when the file has become shorter, or has
  // been replaced or changed since it was added.
  absl::Status Read(size_t file, uint64_t offset, std::span<std::byte> target, ReadWatch& watch) const;

  // Lets the system begin to read these bytes; errors show when they are read.
  void Announce(size_t file, uint64_t offset, uint64_t size) const;

 private:
  using Descriptor = std::shared_ptr<const comm::UniqueFd>;
  struct File {
    std::string path;
    struct stat info = {};
  };
  struct Open {
    size_t file;
    Descriptor descriptor;
  };

  absl::StatusOr<Descriptor> DescriptorOf(size_t file) const;
  Descriptor Find(size_t file) const;
  void Keep(size_t file, const Descriptor& descriptor) const;

  const size_t most_open_;
  std::deque<File> files_;  // where paths stay when files are added
  mutable std::mutex mutex_;
  mutable std::list<Open> open_;  // the last one used first
};

}  // namespace sgd::data
