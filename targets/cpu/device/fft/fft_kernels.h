// The parts of Fourier transforms that are compiled once per instruction set. Every lane of a vector holds a
// transform of its own, so that butterflies are without shuffles; transpositions bring numbers into lanes.
// All transforms are forward ones: an inverse transform swaps real and imaginary parts before and after.
#pragma once

#include <cstdint>
#include <span>

#include "targets/cpu/device/matmul/packed_kernels.h"

namespace sgd::cpu {

// Primes up to here are transformed by their definition, larger ones by convolutions.
inline constexpr uint64_t kMostRadix = 64;

// Complex numbers: element i is (re[i * step], im[i * step]). Two tensors have a step of 1, interleaved numbers one of
// 2, with im behind re. im may be null in what is only read: zeros.
template <typename T>
struct Numbers {
  T* re;
  T* im;
  int64_t step;

  Numbers At(int64_t element) const { return {re + element * step, im == nullptr ? im : im + element * step, step}; }
  Numbers Swapped() const { return {im, re, step}; }
};

// Vectors of lanes: row r is at re + r * stride.
template <typename T>
struct LaneRows {
  T* re;
  T* im;
  int64_t stride;

  LaneRows From(int64_t row) const { return {re + row * stride, im + row * stride, stride}; }
  LaneRows Swapped() const { return {im, re, stride}; }
};

// M. Stockham's form of J. Cooley and J. Tukey's algorithm, by decimation in frequency: of the numbers
// [radix, after, before], transforms over the first dimension, times roots, to [after.., before, radix].
struct LanePass {
  uint64_t radix, before, after;
  const void* roots;   // [after - 1][radix - 1] complex numbers, from the second row on
  const void* circle;  // `radix` complex numbers exp(2 pi i k / radix); of odd radices
};

template <typename T>
struct FftKernels {
  uint64_t lanes;
  // One transform per lane. Reads `from`, writes row k of `to` times `scale`, or times roots[k] where they are. Both
  // halves of scratch memory hold 2 * lanes * (product of radices) elements; `from` may be the first of them or `to`,
  // and `to` the one that the last pass does not read.
  void (*transform)(std::span<const LanePass> passes, const LaneRows<const T>& from, const LaneRows<T>& to, T scale,
                    const T* roots, T* const halves[2]);
  // Lane l of row r is number r * pitch + l of `from`, for l < count; further lanes are zero.
  void (*load_columns)(const Numbers<const T>& from, int64_t pitch, uint64_t rows, uint64_t count,
                       const LaneRows<T>& to);
  void (*store_columns)(const LaneRows<const T>& from, uint64_t rows, uint64_t count, const Numbers<T>& to,
                        int64_t pitch);
  // Lane l of row r is element l * pitch + r of `from`, for l < count; further lanes are zero.
  void (*load_lines)(const T* from, int64_t pitch, uint64_t rows, uint64_t count, T* to, int64_t stride);
  void (*store_lines)(const T* from, int64_t stride, uint64_t rows, uint64_t count, T* to, int64_t pitch);
  // Rows times roots (element r * root_pitch + l, and all times spread[r] where there is one), as lines of `to`
  // that are `pitch` apart; up to the next multiple of `lanes` rows they are padded with zeros.
  void (*turn)(const LaneRows<const T>& from, uint64_t rows, uint64_t count, const Numbers<const T>& roots,
               int64_t root_pitch, const Numbers<const T>* spread, const Numbers<T>& to, int64_t pitch);
  // to[i] = from[i] * by[i] * scale.
  void (*multiply)(const Numbers<const T>& from, const Numbers<const T>& by, T scale, uint64_t count,
                   const Numbers<T>& to);
  // Elements 0 to half of the transform of 2 * half reals, of which those with even and odd positions are the parts of
  // the numbers that `z` is the transform of; z[half] is z[0]. roots[k] = exp(-2 pi i k / (2 half)). Steps of z and
  // roots are 1.
  void (*part_real)(const Numbers<const T>& z, const Numbers<const T>& roots, uint64_t half, const Numbers<T>& to);
  // The other way round, times `scale`: from elements 0 to half to the first half numbers, the input of the inverse
  // transform. Steps are 1.
  void (*join_real)(const Numbers<const T>& x, const Numbers<const T>& roots, T scale, uint64_t half,
                    const Numbers<T>& to);
  // The same in lanes; roots are for all of them. z has no row `half`, and imaginary parts of rows 0 and half of x are
  // not read.
  void (*part_real_lanes)(const LaneRows<const T>& z, const Numbers<const T>& roots, uint64_t half, T scale,
                          const LaneRows<T>& to);
  void (*join_real_lanes)(const LaneRows<const T>& x, const Numbers<const T>& roots, uint64_t half,
                          const LaneRows<T>& to);
};

template <typename T>
const FftKernels<T>& FftKernelsFor(InstructionSet set);

// The same, each from a source of its own.
template <typename T>
const FftKernels<T>& BaselineFftKernels();
template <typename T>
const FftKernels<T>& Avx2FftKernels();
template <typename T>
const FftKernels<T>& Avx512FftKernels();

}  // namespace sgd::cpu
