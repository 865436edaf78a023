// A seeded permutation of [0, size) that is computed for one index at a time: it needs no memory,
// and every rank sees the same order.
//
// A Feistel network of eight rounds over the smallest even number of bits that holds `size`;
// results outside are sent through again (cycle walking; less than four times on average). Round r
// maps (left, right) to (right, left ^ low bits of Mix(right ^ key[r])), with key[r] the r-th
// output of SplitMix64 started from Mix(seed) + epoch. This definition is fixed: resumed runs
// depend on it.
#pragma once

#include <array>
#include <cstdint>

namespace sgd::data {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64 bits that scatters
// neighbouring numbers.
constexpr uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Permutation {
 public:
  // `size` at least 1 and at most 2^62.
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch);

  // Where `index` below size goes; each result below size occurs once.
  uint64_t operator()(uint64_t index) const;

 private:
  uint64_t size_;
  uint32_t half_bits_ = 1;
  std::array<uint64_t, 8> keys_;
};

}  // namespace sgd::data
