// The library as a header: what it picks fits this CPU's compile flags.
#include "runtime/checkpoint/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/strings/str_format.h"

namespace sgd::checkpoint {

struct Digest::State {
  XXH3_state_t xxh3;
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh3); }
Digest::~Digest() = default;

void Digest::Add(std::span<const std::byte> bytes) { XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size()); }

Digest::Value Digest::value() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh3);
  return {hash.high64, hash.low64};
}

std::string Digest::Hex() const {
  const Value hash = value();
  return absl::StrFormat("%016x%016x", hash[0], hash[1]);
}

}  // namespace sgd::checkpoint
