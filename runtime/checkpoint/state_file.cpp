// Direct writes need addresses, offsets and sizes that are multiples of a block: the end of the file goes through a
// block of its own.
#include "runtime/checkpoint/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/container.h"
#include "runtime/checkpoint/digest.h"
#include "runtime/checkpoint/direct_writes.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/data/mapped_file.h"
#include "runtime/data/zstd_frames.h"

namespace sgd::checkpoint {
namespace {

constexpr size_t kChunk = 8 << 20;
constexpr size_t kReadChunk = 1 << 20;  // fits in a core's cache
constexpr size_t kBlock = 4096;         // a multiple of the block of every device

struct alignas(kBlock) Block {
  std::array<std::byte, kBlock> bytes{};
};

bool IsAligned(std::span<const std::byte> bytes) { return reinterpret_cast<uintptr_t>(bytes.data()) % kBlock == 0; }

// An open file that takes direct writes until the file system refuses one. While they are in flight, the caller
// computes the checksum of what comes next.
class StateFileWriter {
 public:
  // For parts of kChunk, but for the last. Direct writes need them to be aligned. `reserved`: bytes that will be
  // written.
  static absl::StatusOr<std::unique_ptr<StateFileWriter>> Create(const std::string& path, bool are_aligned,
                                                                 uint64_t reserved);

  // Nobody changes `part` until Drain or Finish.
  absl::Status Append(std::span<const std::byte> part);
  // Returns when all is written that was appended.
  absl::Status Drain() { return writes_ == nullptr ? absl::OkStatus() : writes_->Drain(); }
  // Cuts the file to its size and syncs it.
  absl::Status Finish();

 private:
  StateFileWriter(std::string path, comm::UniqueFd file, bool is_direct)
      : path_(std::move(path)), file_(std::move(file)), is_direct_(is_direct) {}
  absl::Status Reserve(uint64_t size);
  absl::Status Write(std::span<const std::byte> bytes);
  absl::Status WriteNow(std::span<const std::byte> bytes, uint64_t offset);

  std::string path_;
  comm::UniqueFd file_;
  bool is_direct_;
  uint64_t end_ = 0;                      // of what was written
  uint64_t size_ = 0;                     // of the parts
  std::unique_ptr<DirectWrites> writes_;  // null where writes are not direct
};

absl::StatusOr<std::unique_ptr<StateFileWriter>> StateFileWriter::Create(const std::string& path, bool are_aligned,
                                                                         uint64_t reserved) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  comm::UniqueFd file;
  if (are_aligned) file = comm::UniqueFd(open(path.c_str(), kFlags | O_DIRECT, 0666));
  const bool is_direct = file.valid();
  if (!is_direct) file = comm::UniqueFd(open(path.c_str(), kFlags, 0666));
  if (!file.valid()) return data::SystemError(path, "create", errno);
  auto writer = absl::WrapUnique(new StateFileWriter(path, std::move(file), is_direct));
  if (absl::Status status = writer->Reserve(reserved); !status.ok()) return status;
  if (is_direct) {
    writer->writes_ = DirectWrites::Create(
        writer->file_.get(), [writer = writer.get()](std::span<const std::byte> bytes, uint64_t offset, int error) {
          // Bytes that the file system refuses, or has no room for now, are written in the other way.
          const bool may_do = error == 0 || error == EINVAL || error == EAGAIN || error == EINTR;
          return may_do ? writer->WriteNow(bytes, offset) : data::SystemError(writer->path_, "write", error);
        });
  }
  return writer;
}

// One extent instead of many, and a full disk is known before the first write.
absl::Status StateFileWriter::Reserve(uint64_t size) {
  if (size == 0 || fallocate(file_.get(), 0, 0, static_cast<off_t>(size)) == 0) return absl::OkStatus();
  const bool cannot = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == EINTR;
  return cannot ? absl::OkStatus() : data::SystemError(path_, "reserve space for", errno);
}

absl::Status StateFileWriter::Append(std::span<const std::byte> part) {
  size_ += part.size();
  const size_t whole = is_direct_ ? part.size() / kBlock * kBlock : part.size();
  if (absl::Status status = Write(part.first(whole)); !status.ok() || whole == part.size()) return status;
  Block block;
  std::ranges::copy(part.subspan(whole), block.bytes.begin());
  absl::Status status = WriteNow(block.bytes, end_);
  end_ += kBlock;
  return status;
}

absl::Status StateFileWriter::Write(std::span<const std::byte> bytes) {
  const uint64_t offset = end_;
  end_ += bytes.size();
  if (bytes.empty()) return absl::OkStatus();
  return is_direct_ && writes_ != nullptr ? writes_->Begin(bytes, offset) : WriteNow(bytes, offset);
}

absl::Status StateFileWriter::WriteNow(std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EINVAL && is_direct_) {
      // The file system, or what is left of a write that it has cut short.
      is_direct_ = false;
      if (fcntl(file_.get(), F_SETFL, 0) != 0) return data::SystemError(path_, "write", errno);
      continue;
    }
    if (count < 0) return data::SystemError(path_, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return absl::OkStatus();
}

absl::Status StateFileWriter::Finish() {
  if (absl::Status status = Drain(); !status.ok()) return status;
  if (ftruncate(file_.get(), static_cast<off_t>(size_)) != 0 || fsync(file_.get()) != 0)
    return data::SystemError(path_, "write", errno);
  return absl::OkStatus();
}

// Collects what is appended until there is a chunk to write.
class ChunkedWriter {
 public:
  explicit ChunkedWriter(std::unique_ptr<StateFileWriter> file)
      : file_(std::move(file)), memory_(new (std::align_val_t(kBlock)) std::byte[kChunk]) {}

  absl::Status Append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const size_t count = std::min(kChunk - used_, bytes.size());
      std::ranges::copy(bytes.first(count), memory_.get() + used_);
      used_ += count;
      bytes = bytes.subspan(count);
      if (used_ < kChunk) return absl::OkStatus();
      if (absl::Status status = Flush(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Finish() {
    absl::Status status = Flush();
    return status.ok() ? file_->Finish() : status;
  }

  uint64_t bytes() const { return bytes_; }
  std::string checksum() const { return digest_.Hex(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t(kBlock)); }
  };

  absl::Status Flush() {
    const std::span<const std::byte> chunk(memory_.get(), std::exchange(used_, 0));
    digest_.Add(chunk);
    bytes_ += chunk.size();
    // The memory is used again.
    absl::Status status = file_->Append(chunk);
    return status.ok() ? file_->Drain() : status;
  }

  const std::unique_ptr<StateFileWriter> file_;
  const std::unique_ptr<std::byte[], Free> memory_;
  size_t used_ = 0;
  uint64_t bytes_ = 0;
  Digest digest_;
};

absl::StatusOr<FileDigest> Sha256OfFile(const std::string& path) {
  const absl::StatusOr<data::MappedFile> file = data::MappedFile::OpenForReading(path);
  if (!file.ok()) return file.status();
  const std::span<const std::byte> bytes = file->bytes();
  const absl::StatusOr<artifact::Hash> hash =
      artifact::Sha256({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!hash.ok()) return absl::Status(hash.status().code(), absl::StrCat(path, ": ", hash.status().message()));
  return FileDigest{bytes.size(), artifact::HexHash(*hash)};
}

}  // namespace

absl::StatusOr<FileDigest> WriteStateFile(const std::string& path, std::span<const std::byte> image,
                                          const std::function<absl::Status()>& poll) {
  absl::StatusOr<std::unique_ptr<StateFileWriter>> file = StateFileWriter::Create(path, IsAligned(image), image.size());
  if (!file.ok()) return file.status();
  Digest digest;
  for (size_t at = 0; at < image.size(); at += kChunk) {
    if (absl::Status status = poll(); !status.ok()) return status;
    const std::span<const std::byte> chunk = image.subspan(at, std::min(kChunk, image.size() - at));
    digest.Add(chunk);
    if (absl::Status status = (*file)->Append(chunk); !status.ok()) return status;
  }
  if (absl::Status status = (*file)->Finish(); !status.ok()) return status;
  return FileDigest{image.size(), digest.Hex()};
}

absl::StatusOr<FileDigest> WriteCompressedStateFile(const std::string& path, std::span<const std::byte> image,
                                                    int zstd_level, const std::function<absl::Status()>& poll) {
  absl::StatusOr<data::ZstdFrameWriter> frames = data::ZstdFrameWriter::Create(zstd_level);
  if (!frames.ok()) return frames.status();
  // How many bytes there will be is not known.
  absl::StatusOr<std::unique_ptr<StateFileWriter>> file = StateFileWriter::Create(path, /*are_aligned=*/true, 0);
  if (!file.ok()) return file.status();
  ChunkedWriter writer(*std::move(file));
  Digest digest;
  for (size_t at = 0; at < image.size(); at += kFrameBytes) {
    if (absl::Status status = poll(); !status.ok()) return status;
    const std::span<const std::byte> part = image.subspan(at, std::min<size_t>(kFrameBytes, image.size() - at));
    digest.Add(part);
    const absl::StatusOr<std::span<const std::byte>> frame = frames->Compress(part);
    if (!frame.ok()) return frame.status();
    if (absl::Status status = writer.Append(*frame); !status.ok()) return status;
  }
  absl::Status status = writer.Append(frames->Index());
  if (status.ok()) status = writer.Finish();
  if (!status.ok()) return status;
  return FileDigest{image.size(), digest.Hex(), writer.bytes(), writer.checksum()};
}

absl::StatusOr<double> EstimateCompression(std::span<const std::byte> image, int zstd_level) {
  constexpr size_t kSamples = 8;
  absl::StatusOr<data::ZstdFrameWriter> frames = data::ZstdFrameWriter::Create(zstd_level);
  if (!frames.ok()) return frames.status();
  uint64_t before = 0, after = 0;
  const size_t count = (image.size() + kFrameBytes - 1) / kFrameBytes;
  for (size_t sample = 0; sample < std::min(kSamples, count); ++sample) {
    const size_t at = sample * count / std::min(kSamples, count) * kFrameBytes;
    const std::span<const std::byte> part = image.subspan(at, std::min<size_t>(kFrameBytes, image.size() - at));
    const absl::StatusOr<std::span<const std::byte>> frame = frames->Compress(part);
    if (!frame.ok()) return frame.status();
    before += part.size();
    after += frame->size();
  }
  return before == 0 ? 1.0 : static_cast<double>(after) / static_cast<double>(before);
}

absl::StatusOr<FileDigest> DigestFile(const std::string& path, Manifest::Checksum kind) {
  if (kind == Manifest::Checksum::kSha256) return Sha256OfFile(path);
  // Reading ahead in large steps, which a mapping does not, and leaves the bytes in the cache for the ranks.
  const comm::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return data::SystemError(path, "open", errno);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return data::SystemError(path, "read the size of", errno);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  const auto size = static_cast<uint64_t>(info.st_size);
  std::vector<std::byte> chunk(std::min<uint64_t>(size, kReadChunk));
  Digest digest;
  for (uint64_t at = 0; at < size; at += chunk.size()) {
    const std::span<std::byte> part = std::span(chunk).first(std::min<uint64_t>(chunk.size(), size - at));
    if (absl::Status status = data::ReadAt(file.get(), path, at, part); !status.ok()) return status;
    digest.Add(part);
  }
  return FileDigest{size, digest.Hex()};
}

}  // namespace sgd::checkpoint
