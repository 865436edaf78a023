// A file mapped into memory, read-only or shared and writable; owns the descriptor and the mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/file_mapping.h"

namespace sgd::data {

// An error of the system about `path`: "PATH: cannot DO: No such file or directory". The code
// follows the error number.
absl::Status SystemError(const std::string& path, const char* action, int error_number);

// Reads target.size() bytes of an open file from `offset` on. The system's error, or DataLoss when the file ends
// before.
absl::Status ReadAt(int descriptor, const std::string& path, uint64_t offset, std::span<std::byte> target);

class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // An existing regular file, read-only.
  static absl::StatusOr<MappedFile> OpenForReading(const std::string& path);

  // Creates `path` (or takes over what a dead process left there) with `size` allocated bytes of
  // zero, mapped shared. The file is locked while this object lives, so that two runs never write
  // the same one: kUnavailable for the second. kResourceExhausted on a full disk.
  static absl::StatusOr<MappedFile> CreateShared(const std::string& path, uint64_t size);

  // Maps a file of exactly `size` bytes that another process has made with CreateShared.
  static absl::StatusOr<MappedFile> JoinShared(const std::string& path, uint64_t size);

  // Memory without a name, mapped shared: children of this process see the same bytes. All of it is taken now:
  // kResourceExhausted where there is not enough. `name` is for messages.
  static absl::StatusOr<MappedFile> CreateInMemory(const std::string& name, uint64_t size);
  // Opens it for reading, as long as this object lives.
  std::string PathInMemory() const;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(mapping_.data()), mapping_.size()}; }
  // Only of a shared mapping.
  std::span<std::byte> mutable_bytes() { return {static_cast<std::byte*>(mapping_.data()), mapping_.size()}; }

  // Reads the file's bytes from `offset` on, past the mapping. DataLoss when it ends before.
  absl::Status Read(const std::string& path, uint64_t offset, std::span<std::byte> target) const;

  // Gives back the memory of a part that has been read; reading it again brings it back. Memory of
  // the process grows by every page of a mapping that it touches.
  void Release(std::span<const std::byte> part) const;

  // Writes everything to the disk, also what other processes have put into the same file.
  absl::Status Sync(const std::string& path);

 private:
  absl::Status Map(const std::string& path, uint64_t size, bool writable);
  // Whether the open file is still the one that the path names.
  bool IsAt(const std::string& path) const;
  void Close();

  int descriptor_ = -1;
  artifact::FileMapping mapping_;
};

// Writes a directory's entries to the disk, so that a rename inside it lasts.
absl::Status SyncDirectory(const std::string& path);

// The folder that holds `path`; "." for a bare name.
std::string DirectoryOf(const std::string& path);

}  // namespace sgd::data
