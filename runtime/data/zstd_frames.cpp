// All sizes of the index are checked when the file is opened, and those of a frame before it is decompressed.
#include "runtime/data/zstd_frames.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

static_assert(std::endian::native == std::endian::little, "numbers of zstd's formats are little-endian");

namespace sgd::data {
namespace {

constexpr uint32_t kSkippable = 0x184D2A5E, kSeekable = 0x8F92EAB1;  // magic numbers
constexpr size_t kHeaderBytes = 8;                                   // of the skippable frame
constexpr size_t kFooterBytes = 9;                                   // number of frames, descriptor, magic number
constexpr size_t kIndexEntryBytes = 8;
constexpr size_t kRecentFrames = 8;

void Append(uint32_t number, std::vector<std::byte>& bytes) {
  const auto parts = std::as_bytes(std::span(&number, 1));
  bytes.insert(bytes.end(), parts.begin(), parts.end());
}

uint32_t NumberAt(std::span<const std::byte> bytes, uint64_t at) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

}  // namespace

absl::StatusOr<ZstdFrameWriter> ZstdFrameWriter::Create(int level) {
  ZstdFrameWriter writer(ZSTD_createCCtx());
  const bool is_made = writer.context_ != nullptr;
  if (is_made && !ZSTD_isError(ZSTD_CCtx_setParameter(writer.context_, ZSTD_c_compressionLevel, level)) &&
      !ZSTD_isError(ZSTD_CCtx_setParameter(writer.context_, ZSTD_c_checksumFlag, 1)))
    return writer;
  return absl::ResourceExhaustedError("zstd has no memory to compress");
}

ZstdFrameWriter::ZstdFrameWriter(ZstdFrameWriter&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      frame_(std::move(other.frame_)),
      sizes_(std::move(other.sizes_)) {}

ZstdFrameWriter::~ZstdFrameWriter() { ZSTD_freeCCtx(context_); }

absl::StatusOr<std::span<const std::byte>> ZstdFrameWriter::Compress(std::span<const std::byte> part) {
  frame_.resize(std::max(frame_.size(), ZSTD_compressBound(part.size())));
  const size_t size = ZSTD_compress2(context_, frame_.data(), frame_.size(), part.data(), part.size());
  if (ZSTD_isError(size))
    return absl::ResourceExhaustedError(absl::StrCat("zstd cannot compress: ", ZSTD_getErrorName(size)));
  sizes_.emplace_back(static_cast<uint32_t>(size), static_cast<uint32_t>(part.size()));
  return std::span<const std::byte>(frame_).first(size);
}

std::vector<std::byte> ZstdFrameWriter::Index() const {
  std::vector<std::byte> index;
  Append(kSkippable, index);
  Append(static_cast<uint32_t>(sizes_.size() * kIndexEntryBytes + kFooterBytes), index);
  for (const auto& [compressed, decompressed] : sizes_) {
    Append(compressed, index);
    Append(decompressed, index);
  }
  Append(static_cast<uint32_t>(sizes_.size()), index);
  index.push_back(std::byte{0});  // no checksums here: frames have their own
  Append(kSeekable, index);
  return index;
}

absl::StatusOr<std::unique_ptr<ZstdFrames>> ZstdFrames::Open(const std::string& path, uint64_t bytes,
                                                             uint64_t frame_bytes) {
  absl::StatusOr<MappedFile> file = MappedFile::OpenForReading(path);
  if (!file.ok()) return file.status();
  auto frames = absl::WrapUnique(new ZstdFrames(path, *std::move(file), bytes, frame_bytes));
  if (absl::Status status = frames->ReadIndex(); !status.ok()) return status;
  return frames;
}

absl::Status ZstdFrames::ReadIndex() {
  const std::span<const std::byte> all = file_.bytes();
  const auto fault = [&](const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": ", what..., "; expected a file that sgdrun --save-zstd has written"));
  };
  if (all.size() < kHeaderBytes + kFooterBytes || NumberAt(all, all.size() - sizeof(kSeekable)) != kSeekable ||
      all[all.size() - sizeof(kSeekable) - 1] != std::byte{0})
    return fault("has no index of frames at its end");
  const uint64_t frames = NumberAt(all, all.size() - kFooterBytes);
  const uint64_t wanted = bytes_ / frame_bytes_ + (bytes_ % frame_bytes_ == 0 ? 0 : 1);
  if (frames != wanted)
    return fault("has ", frames, " frames, but ", bytes_, " bytes are ", wanted, " of ", frame_bytes_);
  const uint64_t index_bytes = kHeaderBytes + frames * kIndexEntryBytes + kFooterBytes;
  if (index_bytes > all.size()) return fault("is too short for an index of ", frames, " frames");
  const uint64_t end = all.size() - index_bytes;
  if (NumberAt(all, end) != kSkippable || NumberAt(all, end + sizeof(uint32_t)) != index_bytes - kHeaderBytes)
    return fault("has an index of another size than its ", frames, " frames need");
  begins_.reserve(frames + 1);
  uint64_t at = 0;
  for (uint64_t frame = 0; frame < frames; ++frame) {
    const uint64_t entry = end + kHeaderBytes + frame * kIndexEntryBytes;
    begins_.push_back(at);
    at += NumberAt(all, entry);
    const uint64_t size = NumberAt(all, entry + sizeof(uint32_t));
    if (size != BytesOf(frame)) return fault("frame ", frame, " has ", size, " bytes instead of ", BytesOf(frame));
    if (at > end) return fault("frame ", frame, " ends behind all frames");
  }
  begins_.push_back(at);
  return at == end ? absl::OkStatus() : fault(end - at, " bytes behind the last frame belong to none");
}

uint64_t ZstdFrames::BytesOf(uint64_t frame) const { return std::min(frame_bytes_, bytes_ - frame * frame_bytes_); }

absl::Status ZstdFrames::Decompress(uint64_t frame, std::span<std::byte> target) const {
  const std::span<const std::byte> from = file_.bytes().subspan(begins_[frame], begins_[frame + 1] - begins_[frame]);
  const size_t size = ZSTD_decompress(target.data(), target.size(), from.data(), from.size());
  file_.Release(from);
  if (size == target.size()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      path_, ": frame ", frame, ", bytes ", begins_[frame], " to ", begins_[frame + 1], ", is corrupt: ",
      ZSTD_isError(size) ? ZSTD_getErrorName(size) : absl::StrCat("it has ", size, " bytes instead of ", target.size()),
      "; expected the file that was saved; resume from another checkpoint"));
}

absl::StatusOr<ZstdFrames::Frame> ZstdFrames::Fetch(uint64_t frame) const {
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(recent_, frame, &std::pair<uint64_t, Frame>::first);
    if (at != recent_.end()) {
      std::rotate(at, at + 1, recent_.end());
      return recent_.back().second;
    }
  }
  auto bytes = std::make_shared<std::vector<std::byte>>(BytesOf(frame));
  if (absl::Status status = Decompress(frame, *bytes); !status.ok()) return status;
  const std::lock_guard lock(mutex_);
  if (recent_.size() == kRecentFrames) recent_.erase(recent_.begin());
  recent_.emplace_back(frame, bytes);
  return bytes;
}

absl::Status ZstdFrames::Read(uint64_t offset, std::span<std::byte> target) const {
  while (!target.empty()) {
    const uint64_t frame = offset / frame_bytes_, in_frame = offset % frame_bytes_;
    const uint64_t count = std::min<uint64_t>(BytesOf(frame) - in_frame, target.size());
    if (count == BytesOf(frame)) {
      if (absl::Status status = Decompress(frame, target.first(count)); !status.ok()) return status;
    } else {
      const absl::StatusOr<Frame> bytes = Fetch(frame);
      if (!bytes.ok()) return bytes.status();
      std::ranges::copy(std::span(**bytes).subspan(in_frame, count), target.begin());
    }
    offset += count;
    target = target.subspan(count);
  }
  return absl::OkStatus();
}

std::span<const std::byte> ZstdFrames::Keep(uint64_t offset, uint64_t size) const {
  Kept* kept = nullptr;
  {
    const std::lock_guard lock(mutex_);
    kept = &kept_[{offset, size}];
  }
  std::call_once(kept->is_read, [&] {
    kept->bytes.resize(size);
    const absl::Status status = Read(offset, kept->bytes);
    if (status.ok()) return;
    std::ranges::fill(kept->bytes, std::byte{0});
    const std::lock_guard lock(mutex_);
    fault_.Update(status);
  });
  return kept->bytes;
}

void ZstdFrames::Forget(uint64_t offset, uint64_t size) const {
  const std::lock_guard lock(mutex_);
  kept_.erase({offset, size});
}

absl::Status ZstdFrames::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

}  // namespace sgd::data
