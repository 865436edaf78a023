// One piece of memory, so that it may be on huge pages.
#include "targets/cpu/device/threads/thread_scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/saturating.h"
#include "targets/cpu/device/threads/rounding.h"

namespace sgd::cpu {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
// As much as an arena may have.
constexpr uint64_t kMostBytes = uint64_t{1} << 46;

}  // namespace

void ThreadScratch::Free::operator()(std::byte* memory) const { std::free(memory); }

absl::Status ThreadScratch::Reserve(uint64_t thread_bytes, uint64_t shared_bytes) {
  if (memory_ != nullptr && thread_bytes <= thread_bytes_ && shared_bytes <= shared_bytes_) return absl::OkStatus();
  if (thread_bytes > kMostBytes || shared_bytes > kMostBytes)
    return absl::ResourceExhaustedError("an instruction needs more than 2^46 bytes of scratch memory");
  // No thread's part shares a pair of cache lines with another's.
  thread_bytes = std::max(RoundUp(thread_bytes, 128), thread_bytes_);
  shared_bytes = std::max(RoundUp(shared_bytes, 128), shared_bytes_);
  const uint64_t bytes =
      artifact::SaturatingSum(shared_bytes, artifact::SaturatingProduct({uint64_t{threads_}, thread_bytes}));
  if (bytes > kMostBytes)
    return absl::ResourceExhaustedError("an instruction needs more than 2^46 bytes of scratch memory");
  const uint64_t alignment = bytes >= kHugePage ? kHugePage : 128;
  memory_.reset();
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, RoundUp(bytes + 1, alignment))));
  if (memory_ == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes of scratch memory"));
  }
  if (alignment == kHugePage) madvise(memory_.get(), bytes, MADV_HUGEPAGE);  // a hint: small pages work as well
  thread_bytes_ = thread_bytes;
  shared_bytes_ = shared_bytes;
  return absl::OkStatus();
}

}  // namespace sgd::cpu
