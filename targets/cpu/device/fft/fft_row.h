// Transforms of one row of contiguous complex numbers, by vectors of its own columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "targets/cpu/device/fft/fft_kernels.h"
#include "targets/cpu/device/fft/fft_tables.h"

namespace sgd::cpu {

// Rows of more numbers are cut across threads, and need memory of the plan.
inline constexpr uint64_t kMostRowNumbers = uint64_t{1} << 17;

// The numbers [n1, n2]: transforms of columns in lanes, times roots, turned; again transforms of columns (D. Bailey's
// four steps, of which the last turn is none since lanes are columns). Both kinds of columns are independent of each
// other, so threads may share them.
template <typename T>
class SplitRow {
 public:
  // `size` has no large prime factor.
  SplitRow(const FftKernels<T>& kernels, uint64_t size);
  // Vector instructions, about, for the best n1; infinite where a prime factor is too large.
  static double Cost(uint64_t lanes, uint64_t size);

  uint64_t size() const { return first_.size() * second_.size(); }
  // Elements of the memory between the steps, and of a thread's own.
  uint64_t between() const { return 2 * second_.size() * pitch_; }
  uint64_t scratch() const {
    return std::max(first_.scratch() + first_.region(), second_.scratch() + second_.region());
  }

  uint64_t first_blocks() const { return (second_.size() + kernels_.lanes - 1) / kernels_.lanes; }
  uint64_t second_blocks() const { return (first_.size() + kernels_.lanes - 1) / kernels_.lanes; }
  void RunFirst(uint64_t block, const Numbers<const T>& from, T* between, T* scratch) const;
  void RunSecond(uint64_t block, const T* between, const Numbers<T>& to, T scale, T* scratch) const;
  // All blocks of both; `to` may be `from`.
  void Run(const Numbers<const T>& from, const Numbers<T>& to, T scale, T* between, T* scratch) const;

 private:
  static uint64_t ChooseFirst(uint64_t lanes, uint64_t size, double* cost);

  const FftKernels<T>& kernels_;
  LanePlan<T> first_, second_;
  uint64_t pitch_;  // of rows between the steps: n1, in whole vectors
  // Roots of [k1, j2], or of large rows [k1, lane] and apart those of each block's first column [block, k1].
  NumberTable<T> roots_, spread_;
  int64_t root_pitch_;
  bool has_spread_;
};

// Any row: split, or by a cyclic convolution of a size that is (L. Bluestein).
template <typename T>
class RowTransform {
 public:
  RowTransform(const FftKernels<T>& kernels, uint64_t size);
  static double Cost(uint64_t lanes, uint64_t size);

  uint64_t size() const { return size_; }
  // Null where it is a convolution.
  const SplitRow<T>* split() const { return is_convolution_ ? nullptr : &split_; }
  // Elements of memory for one row at a time.
  uint64_t scratch() const;
  // `to` may be `from`.
  void Run(const Numbers<const T>& from, const Numbers<T>& to, T scale, T* scratch) const;

 private:
  static uint64_t ConvolutionSize(uint64_t lanes, uint64_t size);

  const FftKernels<T>& kernels_;
  uint64_t size_;
  bool is_convolution_;
  SplitRow<T> split_;
  NumberTable<T> chirp_, filter_;
};

extern template class SplitRow<float>;
extern template class SplitRow<double>;
extern template class RowTransform<float>;
extern template class RowTransform<double>;

}  // namespace sgd::cpu
