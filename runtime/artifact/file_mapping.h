// A file's pages in memory, and what happens when the file is cut short under them: touching a page that has gone
// raises SIGBUS, which becomes an error that names the file.
#pragma once

#include <cstdint>
#include <string>

namespace sgd::artifact {

// Makes SIGBUS within a mapping of this process end it by comm::LeaveAtOnce with the mapped file's path. Elsewhere the
// signal does what it did before. Call it once, at the start of main.
void LeaveWhenFilesShrink();

// Owns a mapping made by mmap; unmaps it.
class FileMapping {
 public:
  FileMapping() = default;
  // `path` is what messages call the file.
  FileMapping(void* data, uint64_t size, const std::string& path);
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  ~FileMapping();

  // Null without a mapping.
  void* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  struct Record;
  friend void LeaveWhenFilesShrink();

  void* data_ = nullptr;
  uint64_t size_ = 0;
  Record* record_ = nullptr;
};

}  // namespace sgd::artifact
