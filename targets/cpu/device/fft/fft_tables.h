// How transforms of a size are cut into passes, and roots of unity, rounded once from extended precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "targets/cpu/device/fft/fft_kernels.h"

namespace sgd::cpu {

struct RootOfUnity {
  long double re, im;
};

// exp(-2 pi i k / n).
RootOfUnity RootAt(uint64_t k, uint64_t n);

// All n of them.
std::vector<RootOfUnity> CircleOf(uint64_t n);

// The transform of numbers whose count is a product of small primes.
std::vector<RootOfUnity> TransformInTables(const std::vector<RootOfUnity>& numbers);

uint64_t LargestPrimeFactor(uint64_t n);

// Vector instructions of a transform of `size` rows in lanes, about; infinite where a prime factor is too large.
double LaneCost(uint64_t size);

// A transform in lanes: passes over all rows, or, where those would not stay in the first-level cache, two steps of
// columns [n1, n2] that do. May be moved.
template <typename T>
class LanePlan {
 public:
  LanePlan(const FftKernels<T>& kernels, uint64_t size);

  uint64_t size() const { return size_; }
  // Elements of one of the two regions of memory for rows and one more, and of all memory, regions first.
  uint64_t region() const { return 2 * kernels_->lanes * (size_ + 1); }
  uint64_t scratch() const { return 2 * region() + (steps_.empty() ? 0 : 4 * kernels_->lanes * steps_[0].size()); }

  // From rows to rows, that may be the same. Rows of no region.
  void Run(const LaneRows<const T>& from, const LaneRows<T>& to, T scale, T* scratch) const;
  // Transforms the contents of the first region, with real and imaginary parts swapped where `is_swapped`. Returns the
  // region that the result is in; nothing is in the other.
  int RunLoaded(bool is_swapped, T scale, T* scratch) const;
  // A region's rows.
  LaneRows<T> RowsOf(int region, T* scratch) const;

  // Of two steps, where columns come from elsewhere: column j of `from`, whose row i is element i * columns() + j, to
  // the second region, and row k of that to elements k, k + rows(), ... `scratch` is behind the regions.
  bool has_steps() const { return !steps_.empty(); }
  uint64_t rows() const { return steps_[0].size(); }
  uint64_t columns() const { return steps_[1].size(); }
  void RunColumn(uint64_t j, const LaneRows<const T>& from, const LaneRows<T>& between, T* scratch) const;
  void RunRow(uint64_t k, const LaneRows<const T>& between, const LaneRows<T>& to, T scale, T* scratch) const;

 private:
  struct OneStep {};
  LanePlan(const FftKernels<T>& kernels, uint64_t size, OneStep);

  void RunTo(const LaneRows<const T>& from, T* between, const LaneRows<T>& to, T scale, T* scratch) const;
  void MakePasses();

  const FftKernels<T>* kernels_;
  uint64_t size_;
  std::vector<LanePass> passes_;
  std::vector<T> tables_;
  std::vector<LanePlan> steps_;  // none or two: of n1, the larger one, and n2
  std::vector<T> step_roots_;    // [j2, k1]
};

// Numbers in two tables.
template <typename T>
class NumberTable {
 public:
  NumberTable() = default;
  explicit NumberTable(uint64_t count) : re_(count), im_(count) {}

  void Set(uint64_t i, RootOfUnity value) {
    re_[i] = static_cast<T>(value.re);
    im_[i] = static_cast<T>(value.im);
  }
  Numbers<const T> At(uint64_t i) const { return {re_.data() + i, im_.data() + i, 1}; }

 private:
  std::vector<T> re_, im_;
};

// exp(-2 pi i k / n) for k <= n / 2.
template <typename T>
NumberTable<T> HalfCircleOf(uint64_t n);

extern template class LanePlan<float>;
extern template class LanePlan<double>;

}  // namespace sgd::cpu
