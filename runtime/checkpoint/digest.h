// The checksum of a checkpoint's file of tensors, and of copies in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sgd::checkpoint {

// XXH3 of 128 bits: finds damage, at some 10 GB/s; no protection against forgery.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void Add(std::span<const std::byte> bytes);
  // Of everything so far.
  using Value = std::array<uint64_t, 2>;  // the high half first
  Value value() const;
  // The same, hexadecimal.
  std::string Hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sgd::checkpoint
