// Files in zstd's seekable format: frames that each have the same number of bytes when decompressed, and an index of
// their sizes in a skippable frame at the end. Any part is read without those before it, and `zstd -d` reads all.
// (contrib/seekable_format/zstd_seekable_compression_format.md of zstd.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/mapped_file.h"

struct ZSTD_CCtx_s;

namespace sgd::data {

// Compresses one frame after the other.
class ZstdFrameWriter {
 public:
  // ResourceExhausted without memory.
  static absl::StatusOr<ZstdFrameWriter> Create(int level);
  ZstdFrameWriter(ZstdFrameWriter&& other) noexcept;
  ZstdFrameWriter& operator=(ZstdFrameWriter&&) = delete;
  ~ZstdFrameWriter();

  // The frame of `part`, with zstd's checksum of its content; until the next call. All parts but the last are of equal
  // size, at most 2 GiB.
  absl::StatusOr<std::span<const std::byte>> Compress(std::span<const std::byte> part);
  // The bytes behind the last frame.
  std::vector<std::byte> Index() const;

 private:
  explicit ZstdFrameWriter(ZSTD_CCtx_s* context) : context_(context) {}

  ZSTD_CCtx_s* context_;
  std::vector<std::byte> frame_;
  std::vector<std::pair<uint32_t, uint32_t>> sizes_;  // compressed, decompressed
};

// An open file, which is not trusted: no size that it declares is believed, and no more memory is taken than the caller
// has asked to read.
class ZstdFrames {
 public:
  // `bytes`: of the whole file when decompressed; `frame_bytes`: of each frame but the last. Errors begin with the
  // path: the system's, and InvalidArgument for an index that does not fit these, or the file.
  static absl::StatusOr<std::unique_ptr<ZstdFrames>> Open(const std::string& path, uint64_t bytes,
                                                          uint64_t frame_bytes);

  uint64_t size() const { return bytes_; }
  // Decompresses bytes [offset, offset + target.size()), which are within the file. DataLoss with the frame that is at
  // fault. Any thread.
  absl::Status Read(uint64_t offset, std::span<std::byte> target) const;

  // The same in memory, until it is forgotten. Bytes that cannot be decompressed are zero, and fault() says so. Any
  // thread.
  std::span<const std::byte> Keep(uint64_t offset, uint64_t size) const;
  void Forget(uint64_t offset, uint64_t size) const;
  // The first error of Keep.
  absl::Status fault() const;

 private:
  struct Kept {
    std::once_flag is_read;
    std::vector<std::byte> bytes;
  };
  using Frame = std::shared_ptr<const std::vector<std::byte>>;

  ZstdFrames(std::string path, MappedFile file, uint64_t bytes, uint64_t frame_bytes)
      : path_(std::move(path)), file_(std::move(file)), bytes_(bytes), frame_bytes_(frame_bytes) {}
  absl::Status ReadIndex();
  uint64_t BytesOf(uint64_t frame) const;
  absl::Status Decompress(uint64_t frame, std::span<std::byte> target) const;
  absl::StatusOr<Frame> Fetch(uint64_t frame) const;

  const std::string path_;
  const MappedFile file_;
  const uint64_t bytes_, frame_bytes_;
  std::vector<uint64_t> begins_;  // of each frame in the file, and the end of the last
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<uint64_t, Frame>> recent_;  // frames of which parts were read, the last one at the end
  mutable std::map<std::pair<uint64_t, uint64_t>, Kept> kept_;  // by offset and size
  mutable absl::Status fault_;
};

}  // namespace sgd::data
