// Layout: header page(s), one RankFlag per rank, staging slots, windows; each part begins on a
// page, large windows on a huge one.
#include "runtime/comm/shared_memory/shared_memory_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/rank_text.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kLeastHugeWindow = 2 * kHugePage;
constexpr uint64_t kMagic = 0x5347445348415245;  // "SGDSHARE"
constexpr uint32_t kVersion = 10;
constexpr uint64_t kMaxTotalBytes = uint64_t{1} << 46;
constexpr size_t kMessageBytes = 2048;

uint64_t RoundUp(uint64_t bytes, uint64_t unit = kPage) { return (bytes + unit - 1) / unit * unit; }

uint64_t PhysicalMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Maps the file where offset 0 is a multiple of huge pages: those are used only where both the
// address and the offset in the file are. MAP_FAILED as mmap.
void* MapAligned(int fd, uint64_t bytes) {
  const uint64_t reserved = bytes + kHugePage;
  void* space = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return MAP_FAILED;
  std::byte* begin = static_cast<std::byte*>(space);
  const uint64_t skipped = RoundUp(reinterpret_cast<uint64_t>(begin), kHugePage) - reinterpret_cast<uint64_t>(begin);
  void* base = mmap(begin + skipped, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (base == MAP_FAILED) {
    munmap(space, reserved);
    return MAP_FAILED;
  }
  const uint64_t end = RoundUp(skipped + bytes);
  if (skipped > 0) munmap(begin, skipped);
  if (end < reserved) munmap(begin + end, reserved - end);
  return base;
}

absl::Status SharedMemoryError(const char* call) {
  return absl::InternalError(absl::StrCat("shared memory: ", call, ": ", std::strerror(errno)));
}

}  // namespace

struct SharedMemorySegment::Header {
  uint64_t magic;
  uint32_t version;
  uint32_t ranks;
  uint64_t window_bytes;
  std::atomic<uint64_t> stop;
  std::atomic<int32_t> stop_signal, second_stop_signal;
  std::atomic<bool> is_state_kept;
  std::atomic<uint32_t> abort_state;  // 0 none, 1 being written, 2 readable
  uint32_t abort_rank;
  int32_t abort_code;
  char abort_message[kMessageBytes];
  std::atomic<uint32_t> cause_claimed;  // the rank that prints the cause, plus one; 0: none yet
};

absl::StatusOr<std::shared_ptr<SharedMemorySegment>> SharedMemorySegment::Create(uint32_t ranks,
                                                                                 uint64_t window_bytes) {
  if (ranks == 0 || ranks > kMaxRanks) {
    return absl::InvalidArgumentError(absl::StrCat(ranks, " ranks on one host; supported are 1 to ", kMaxRanks));
  }
  const uint64_t memory = std::min(kMaxTotalBytes, PhysicalMemory());
  if (window_bytes > memory / ranks) {
    return absl::ResourceExhaustedError(absl::StrCat("a window of ", window_bytes, " bytes for each of ", ranks,
                                                     " ranks is more than this host's memory of ", memory,
                                                     " bytes; expected less; start fewer ranks on this host"));
  }
  std::shared_ptr<SharedMemorySegment> segment(new SharedMemorySegment);
  segment->fd_ = UniqueFd(memfd_create("sgd", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!segment->fd_.valid()) return SharedMemoryError("memfd_create");
  segment->ranks_ = ranks;
  segment->window_bytes_ = window_bytes;
  if (absl::Status status = segment->Map(); !status.ok()) return status;
  Header* header = new (segment->base_) Header{};
  header->version = kVersion;
  header->ranks = ranks;
  header->window_bytes = window_bytes;
  header->stop = kNoStop;
  header->magic = kMagic;
  for (uint32_t rank = 0; rank < ranks; ++rank) new (&segment->flags_[rank]) RankFlag{};
  return segment;
}

absl::StatusOr<std::shared_ptr<SharedMemorySegment>> SharedMemorySegment::Attach(UniqueFd fd) {
  std::shared_ptr<SharedMemorySegment> segment(new SharedMemorySegment);
  segment->fd_ = std::move(fd);
  struct stat info = {};
  if (fstat(segment->fd_.get(), &info) != 0) return SharedMemoryError("fstat");
  const auto mismatch = absl::FailedPreconditionError(
      "shared memory: rank 0 runs another version of sgdrun; expected one version; start all ranks with the same "
      "sgdrun");
  if (static_cast<uint64_t>(info.st_size) < sizeof(Header)) return mismatch;
  Header header;
  if (pread(segment->fd_.get(), static_cast<void*>(&header), sizeof(header), 0) !=
      static_cast<ssize_t>(sizeof(header))) {
    return SharedMemoryError("pread");
  }
  if (header.magic != kMagic || header.version != kVersion || header.ranks == 0 || header.ranks > kMaxRanks ||
      header.window_bytes > kMaxTotalBytes / header.ranks) {
    return mismatch;
  }
  segment->ranks_ = header.ranks;
  segment->window_bytes_ = header.window_bytes;
  if (absl::Status status = segment->Map(); !status.ok()) return status;
  return segment;
}

// Needs fd_, ranks_ and window_bytes_. The seals keep anyone from shrinking the file under its
// users.
absl::Status SharedMemorySegment::Map() {
  const uint64_t flags_at = RoundUp(sizeof(Header));
  const uint64_t slots_at = flags_at + RoundUp(sizeof(RankFlag) * ranks_);
  const uint64_t alignment = window_bytes_ >= kLeastHugeWindow ? kHugePage : kPage;
  const uint64_t windows_at = RoundUp(slots_at + uint64_t{ranks_} * kAllSlots * kSlotBytes, alignment);
  window_stride_ = std::max(RoundUp(window_bytes_, alignment), kPage);
  mapped_bytes_ = windows_at + window_stride_ * ranks_;
  struct stat info = {};
  if (fstat(fd_.get(), &info) != 0) return SharedMemoryError("fstat");
  if (info.st_size == 0) {
    if (ftruncate(fd_.get(), static_cast<off_t>(mapped_bytes_)) != 0) {
      if (errno != EFBIG) return SharedMemoryError("ftruncate");
      return absl::ResourceExhaustedError(
          absl::StrCat("shared memory of ", mapped_bytes_,
                       " bytes is more than files may have here; expected a larger limit; raise ulimit -f"));
    }
    if (fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return SharedMemoryError("fcntl");
  } else if (static_cast<uint64_t>(info.st_size) != mapped_bytes_) {
    return absl::FailedPreconditionError(
        "shared memory: the segment has another size than rank 0 made; expected one artifact; start all ranks with the "
        "same file");
  }
  void* base = MapAligned(fd_.get(), mapped_bytes_);
  if (base == MAP_FAILED) {
    base_ = nullptr;
    return SharedMemoryError("mmap");
  }
  base_ = static_cast<std::byte*>(base);
  header_ = reinterpret_cast<Header*>(base_);
  flags_ = reinterpret_cast<RankFlag*>(base_ + flags_at);
  slots_ = base_ + slots_at;
  windows_ = base_ + windows_at;
  madvise(windows_, window_stride_ * ranks_, MADV_HUGEPAGE);
  return absl::OkStatus();
}

SharedMemorySegment::~SharedMemorySegment() {
  if (base_ != nullptr) munmap(base_, mapped_bytes_);
}

// Files of memory have small pages unless an administrator says otherwise (shmem_enabled); collapsing is the one way
// to huge ones that needs no leave. It takes what lies in no page yet as zeros, but nothing at all is not collapsed.
// A range for which there is no huge page, and all of them before Linux 6.1, keep small pages.
void SharedMemorySegment::CollapseWindow(uint32_t rank) {
#if defined(MADV_POPULATE_WRITE) && defined(MADV_COLLAPSE)
  if (window_bytes_ < kLeastHugeWindow) return;
  for (uint64_t at = 0; at < window_stride_; at += kHugePage) madvise(window(rank) + at, kPage, MADV_POPULATE_WRITE);
  madvise(window(rank), window_stride_, MADV_COLLAPSE);
#endif
}

absl::Status SharedMemorySegment::PopulateWindow(uint32_t rank) {
  CollapseWindow(rank);
#ifdef MADV_POPULATE_WRITE
  // Kernels before 5.14 do not know it (EINVAL) and take pages as they are touched.
  if (madvise(window(rank), RoundUp(window_bytes_), MADV_POPULATE_WRITE) != 0 && (errno == ENOMEM || errno == EFAULT)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("not enough memory for a window of ", window_bytes_,
                     " bytes in shared memory; free memory, raise the container's limit, or start fewer ranks on "
                     "this host"));
  }
#endif
  return absl::OkStatus();
}

void SharedMemorySegment::MapWindow(uint32_t rank, uint64_t offset, uint64_t bytes) {
#ifdef MADV_POPULATE_READ
  const uint64_t begin = offset / kPage * kPage;
  madvise(window(rank) + begin, RoundUp(offset + bytes) - begin, MADV_POPULATE_READ);
#endif
}

void SharedMemorySegment::RequestStop(int signal) {
  int32_t first = 0, none = 0;
  if (!header_->stop_signal.compare_exchange_strong(first, signal) && first != signal)
    header_->second_stop_signal.compare_exchange_strong(none, signal);
  uint64_t no_stop = kNoStop;
  if (!header_->stop.compare_exchange_strong(no_stop, kStopUndecided)) return;
  uint64_t most = 0;
  for (uint32_t rank = 0; rank < ranks_; ++rank) most = std::max(most, flags_[rank].begun.load());
  header_->stop.store(most);
}

uint64_t SharedMemorySegment::stop() const { return header_->stop.load(); }

int SharedMemorySegment::stop_signal() const { return header_->stop_signal.load(); }

int SharedMemorySegment::second_stop_signal() const { return header_->second_stop_signal.load(); }

void SharedMemorySegment::MarkStateKept() { header_->is_state_kept.store(true); }

bool SharedMemorySegment::is_state_kept() const { return header_->is_state_kept.load(); }

bool SharedMemorySegment::Abort(uint32_t rank, const absl::Status& cause) {
  uint32_t none = 0;
  if (!header_->abort_state.compare_exchange_strong(none, 1)) return false;
  header_->abort_rank = rank;
  header_->abort_code = static_cast<int32_t>(cause.code());
  // The message's last byte stays zero.
  cause.message().copy(header_->abort_message, kMessageBytes - 1);
  header_->abort_state.store(2);
  for (uint32_t peer = 0; peer < ranks_; ++peer) {
    for (Arrivals* arrivals : {&flags_[peer].arrivals, &flags_[peer].of_all, &flags_[peer].beside})
      syscall(SYS_futex, &arrivals->arrived, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  return true;
}

bool SharedMemorySegment::aborted() const { return header_->abort_state.load() == 2; }

absl::Status SharedMemorySegment::abort_cause() const {
  if (!aborted()) return absl::OkStatus();
  const std::string message(header_->abort_message, strnlen(header_->abort_message, kMessageBytes));
  return absl::Status(static_cast<absl::StatusCode>(header_->abort_code),
                      header_->abort_rank == kNoRank ? message : OfRank(header_->abort_rank, message));
}

std::optional<uint32_t> SharedMemorySegment::abort_rank() const {
  return aborted() && header_->abort_rank != kNoRank ? std::optional(header_->abort_rank) : std::nullopt;
}

uint32_t SharedMemorySegment::ClaimCause(uint32_t rank) {
  uint32_t claimed = 0;
  return header_->cause_claimed.compare_exchange_strong(claimed, rank + 1) ? rank : claimed - 1;
}

}  // namespace sgd::comm
