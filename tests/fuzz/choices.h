// The random decisions behind a generated program, as a list of numbers. A program is a function of its list, so a list
// that is shortened or lowered gives a simpler program: shrinking needs to know nothing of ops.
#ifndef SGD_TESTS_FUZZ_CHOICES_H
#define SGD_TESTS_FUZZ_CHOICES_H

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace mlir::sgd::fuzz {

class Choices {
 public:
  /// Decisions at random; equal seeds decide alike.
  explicit Choices(uint64_t seed) : random(seed), isReplay(false) {}
  /// Decisions as recorded; when they are used up, always the simplest one.
  explicit Choices(std::vector<uint64_t> recorded) : taken(std::move(recorded)), isReplay(true) {}

  /// A number below `bound`, which is at least 1. Generators put what is simplest at 0.
  uint64_t below(uint64_t bound);

  /// True in `percent` of 100 cases; false is simplest.
  bool chance(unsigned percent) { return below(100) >= 100 - percent; }

  template <typename Container>
  const auto& pick(const Container& options) {
    return options[below(options.size())];
  }
  template <typename T>
  T pick(std::initializer_list<T> options) {
    return options.begin()[below(options.size())];
  }

  /// A permutation of 0 .. size-1.
  std::vector<int64_t> permutation(int64_t size);
  /// `count` different numbers below `size`, in ascending order.
  std::vector<int64_t> subset(int64_t size, int64_t count);

  /// The decisions, each below the bound that was asked for.
  const std::vector<uint64_t>& getTaken() const { return taken; }
  /// Drops recorded decisions that nobody asked for.
  void trim() { taken.resize(next); }

 private:
  std::mt19937_64 random;
  std::vector<uint64_t> taken;
  size_t next = 0;
  bool isReplay;
};

}  // namespace mlir::sgd::fuzz

#endif
