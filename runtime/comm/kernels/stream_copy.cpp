// Whole lines by non-temporal stores, which need not read the line first; the ends by memcpy.
#include "runtime/comm/kernels/stream_copy.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sgd::comm {

void StreamCopy(std::byte* target, const std::byte* source, uint64_t bytes) {
#if defined(__x86_64__)
  constexpr uint64_t kLine = 64;
  const uint64_t head = std::min(bytes, (kLine - reinterpret_cast<uintptr_t>(target) % kLine) % kLine);
  if (head != 0) std::memcpy(target, source, head);
  uint64_t done = head;
  for (; done + kLine <= bytes; done += kLine) {
    const __m128i* from = reinterpret_cast<const __m128i*>(source + done);
    __m128i* to = reinterpret_cast<__m128i*>(target + done);
    const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  if (done != bytes) std::memcpy(target + done, source + done, bytes - done);
#else
  std::memcpy(target, source, bytes);
#endif
}

void FenceStreams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace sgd::comm
