// The Feistel permutation of shuffle.h.
#include "runtime/data/shuffle.h"

#include <utility>

namespace sgd::data {

Permutation::Permutation(uint64_t size, uint64_t seed, uint64_t epoch) : size_(size) {
  while (half_bits_ < 31 && (uint64_t{1} << (2 * half_bits_)) < size) ++half_bits_;
  uint64_t state = Mix(seed) + epoch;
  for (uint64_t& key : keys_) {
    key = Mix(state);
    state += 0x9e3779b97f4a7c15;
  }
}

uint64_t Permutation::operator()(uint64_t index) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = index >> half_bits_;
    uint64_t right = index & mask;
    for (uint64_t key : keys_) {
      left ^= Mix(right ^ key) & mask;
      std::swap(left, right);
    }
    index = left << half_bits_ | right;
  } while (index >= size_);
  return index;
}

}  // namespace sgd::data
