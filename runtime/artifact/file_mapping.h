// A file's pages in memory. Touching a page that the file has no longer raises SIGBUS, which is the program's to handle
// (process/shrunken_files.h).
#pragma once

#include <cstdint>

namespace sgd::artifact {

// Owns a mapping made by mmap; unmaps it.
class FileMapping {
 public:
  FileMapping() = default;
  FileMapping(void* data, uint64_t size) : data_(data), size_(size) {}
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  ~FileMapping();

  // Null without a mapping.
  void* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace sgd::artifact
