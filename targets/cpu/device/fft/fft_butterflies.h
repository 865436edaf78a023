// Transforms of a few complex numbers in vector registers, for one instruction set; see fft_kernels.h. Nothing here may
// have external linkage: each source that includes this is compiled with flags of its own.
#pragma once

#include <cstdint>
#include <utility>

namespace sgd::cpu {
namespace {

template <typename T, int kLanes>
using FftVector __attribute__((ext_vector_type(kLanes))) = T;

template <typename T, int kBytes>
struct FftLanes {
  static constexpr int kCount = kBytes / static_cast<int>(sizeof(T));
  using Value = FftVector<T, kCount>;
  using Mask = FftVector<bool, kCount>;
  typedef Value Loose __attribute__((aligned(alignof(T)), may_alias));

  [[gnu::always_inline]] static Value Load(const T* from) { return *reinterpret_cast<const Loose*>(from); }
  [[gnu::always_inline]] static void Store(T* to, Value value) { *reinterpret_cast<Loose*>(to) = value; }
  [[gnu::always_inline]] static Mask First(uint64_t count) {
    FftVector<uint32_t, kCount> lane;
    for (int i = 0; i < kCount; ++i) lane[i] = static_cast<uint32_t>(i);
    return __builtin_convertvector(lane < static_cast<uint32_t>(count), Mask);
  }
  // Touch no memory behind the first elements.
  [[gnu::always_inline]] static Value Load(const T* from, Mask mask) {
    return __builtin_masked_load(mask, from, Value{});
  }
  [[gnu::always_inline]] static void Store(T* to, Mask mask, Value value) { __builtin_masked_store(mask, value, to); }

  template <int... kIndex>
  [[gnu::always_inline]] static Value Reverse(Value value, std::integer_sequence<int, kIndex...>) {
    return __builtin_shufflevector(value, value, (kCount - 1 - kIndex)...);
  }
  [[gnu::always_inline]] static Value Reverse(Value value) {
    return Reverse(value, std::make_integer_sequence<int, kCount>());
  }
  // Elements 2 i + kPart of the two together.
  template <int kPart, int... kIndex>
  [[gnu::always_inline]] static Value Every2nd(Value a, Value b, std::integer_sequence<int, kIndex...>) {
    return __builtin_shufflevector(a, b, (2 * kIndex + kPart)...);
  }
  template <int kPart>
  [[gnu::always_inline]] static Value Every2nd(Value a, Value b) {
    return Every2nd<kPart>(a, b, std::make_integer_sequence<int, kCount>());
  }
  // a and b element by element in turn, from half kHalf of them.
  template <int kHalf, int... kIndex>
  [[gnu::always_inline]] static Value InTurn(Value a, Value b, std::integer_sequence<int, kIndex...>) {
    return __builtin_shufflevector(a, b, (kIndex / 2 + kHalf * kCount / 2 + (kIndex % 2) * kCount)...);
  }
  template <int kHalf>
  [[gnu::always_inline]] static Value InTurn(Value a, Value b) {
    return InTurn<kHalf>(a, b, std::make_integer_sequence<int, kCount>());
  }
  // Of blocks of kSize x kSize: the two on the diagonal stay, the others change places.
  template <int kSize, int... kIndex>
  [[gnu::always_inline]] static void Exchange(Value& a, Value& b, std::integer_sequence<int, kIndex...>) {
    const Value first = __builtin_shufflevector(a, b, ((kIndex & kSize) == 0 ? kIndex : kCount + kIndex - kSize)...);
    b = __builtin_shufflevector(a, b, ((kIndex & kSize) == 0 ? kIndex + kSize : kCount + kIndex)...);
    a = first;
  }
  template <int kSize>
  [[gnu::always_inline]] static void TransposeBlocks(Value (&rows)[kCount]) {
    if constexpr (kSize > 0) {
#pragma clang loop unroll(full)
      for (int i = 0; i < kCount; ++i)
        if ((i & kSize) == 0) Exchange<kSize>(rows[i], rows[i + kSize], std::make_integer_sequence<int, kCount>());
      TransposeBlocks<kSize / 2>(rows);
    }
  }
  [[gnu::always_inline]] static void Transpose(Value (&rows)[kCount]) { TransposeBlocks<kCount / 2>(rows); }
};

template <typename V>
struct ComplexLanes {
  V re, im;

  [[gnu::always_inline]] friend ComplexLanes operator+(ComplexLanes a, ComplexLanes b) {
    return {a.re + b.re, a.im + b.im};
  }
  [[gnu::always_inline]] friend ComplexLanes operator-(ComplexLanes a, ComplexLanes b) {
    return {a.re - b.re, a.im - b.im};
  }
  // Vectors or numbers as the other's parts.
  template <typename S>
  [[gnu::always_inline]] ComplexLanes Times(S re_factor, S im_factor) const {
    return {re * re_factor - im * im_factor, re * im_factor + im * re_factor};
  }
  [[gnu::always_inline]] ComplexLanes TimesMinusI() const { return {im, -re}; }
};

// Replaces x by its transform. `circle` is that of a LanePass.
template <int kRadix, typename T, typename V>
struct Butterfly {
  [[gnu::always_inline]] static void Run(ComplexLanes<V> (&x)[kRadix], const T* circle) {
    constexpr int kHalf = (kRadix - 1) / 2;
    ComplexLanes<V> sum[kHalf], difference[kHalf];
    const ComplexLanes<V> first = x[0];
#pragma clang loop unroll(full)
    for (int j = 0; j < kHalf; ++j) {
      sum[j] = x[j + 1] + x[kRadix - 1 - j];
      difference[j] = x[j + 1] - x[kRadix - 1 - j];
      x[0] = x[0] + sum[j];
    }
#pragma clang loop unroll(full)
    for (int m = 1; m <= kHalf; ++m) {
      ComplexLanes<V> even = first, odd = {V{}, V{}};
#pragma clang loop unroll(full)
      for (int j = 0; j < kHalf; ++j) {
        const T* root = circle + 2 * ((j + 1) * m % kRadix);
        even = {even.re + sum[j].re * root[0], even.im + sum[j].im * root[0]};
        odd = {odd.re + difference[j].re * root[1], odd.im + difference[j].im * root[1]};
      }
      x[m] = even + odd.TimesMinusI();
      x[kRadix - m] = even - odd.TimesMinusI();
    }
  }
};

template <typename T, typename V>
struct Butterfly<2, T, V> {
  [[gnu::always_inline]] static void Run(ComplexLanes<V> (&x)[2], const T*) {
    const ComplexLanes<V> sum = x[0] + x[1];
    x[1] = x[0] - x[1];
    x[0] = sum;
  }
};

template <typename T, typename V>
struct Butterfly<4, T, V> {
  [[gnu::always_inline]] static void Run(ComplexLanes<V> (&x)[4], const T*) {
    const ComplexLanes<V> even_sum = x[0] + x[2], even_difference = x[0] - x[2];
    const ComplexLanes<V> odd_sum = x[1] + x[3], odd_difference = (x[1] - x[3]).TimesMinusI();
    x[0] = even_sum + odd_sum;
    x[1] = even_difference + odd_difference;
    x[2] = even_sum - odd_sum;
    x[3] = even_difference - odd_difference;
  }
};

template <typename T, typename V>
struct Butterfly<8, T, V> {
  [[gnu::always_inline]] static void Run(ComplexLanes<V> (&x)[8], const T*) {
    constexpr T kRootHalf = static_cast<T>(0.70710678118654752440);
    ComplexLanes<V> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    Butterfly<4, T, V>::Run(even, nullptr);
    Butterfly<4, T, V>::Run(odd, nullptr);
    odd[1] = {(odd[1].re + odd[1].im) * kRootHalf, (odd[1].im - odd[1].re) * kRootHalf};
    odd[2] = odd[2].TimesMinusI();
    odd[3] = {(odd[3].im - odd[3].re) * kRootHalf, (-odd[3].im - odd[3].re) * kRootHalf};
#pragma clang loop unroll(full)
    for (int k = 0; k < 4; ++k) {
      x[k] = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  }
};

}  // namespace
}  // namespace sgd::cpu
