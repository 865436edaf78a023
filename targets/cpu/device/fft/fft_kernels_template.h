// The kernels of fft_kernels.h for one instruction set, by clang's vector types; as packed_kernels_template.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "targets/cpu/device/fft/fft_butterflies.h"
#include "targets/cpu/device/fft/fft_kernels.h"

namespace sgd::cpu {
namespace {

template <typename T, int kBytes>
class LaneTransform {
 public:
  static void Run(std::span<const LanePass> passes, const LaneRows<const T>& from, const LaneRows<T>& to, T scale,
                  const T* roots, T* const halves[2]) {
    if (passes.empty())
      return Store(to, 0, Load(from, 0).Times(roots == nullptr ? scale : roots[0], roots == nullptr ? T{0} : roots[1]));
    int next = from.re == halves[0] || from.im == halves[0] ? 1 : 0;
    LaneRows<const T> source = from;
    for (const LanePass& pass : passes.first(passes.size() - 1)) {
      const LaneRows<T> target = {halves[next], halves[next] + kLanes, 2 * kLanes};
      Pass<Place::kWithin>(pass, source, target, static_cast<const T*>(pass.roots), scale);
      source = {target.re, target.im, target.stride};
      next = 1 - next;
    }
    if (roots != nullptr) return Pass<Place::kLastWithRoots>(passes.back(), source, to, roots, scale);
    Pass<Place::kLast>(passes.back(), source, to, nullptr, scale);
  }

 private:
  using L = FftLanes<T, kBytes>;
  using Value = typename L::Value;
  using Complex = ComplexLanes<Value>;
  static constexpr int kLanes = L::kCount;

  [[gnu::always_inline]] static Complex Load(const LaneRows<const T>& rows, uint64_t row) {
    const int64_t offset = static_cast<int64_t>(row) * rows.stride;
    return {L::Load(rows.re + offset), L::Load(rows.im + offset)};
  }
  [[gnu::always_inline]] static void Store(const LaneRows<T>& rows, uint64_t row, Complex value) {
    const int64_t offset = static_cast<int64_t>(row) * rows.stride;
    L::Store(rows.re + offset, value.re);
    L::Store(rows.im + offset, value.im);
  }
  [[gnu::always_inline]] static Complex Scaled(Complex value, T scale) { return {value.re * scale, value.im * scale}; }

  enum class Place { kWithin, kLast, kLastWithRoots };

  template <Place kPlace>
  static void Pass(const LanePass& pass, const LaneRows<const T>& from, const LaneRows<T>& to, const T* roots,
                   T scale) {
    const auto runs = [&]<int kRadix>(std::integral_constant<int, kRadix>) {
      if (pass.radix != kRadix) return false;
      PassOf<kRadix, kPlace>(pass, from, to, roots, scale);
      return true;
    };
    const auto runs_one_of = [&]<int... kRadix>(std::integer_sequence<int, kRadix...>) {
      return (runs(std::integral_constant<int, kRadix>()) || ...);
    };
    if (!runs_one_of(std::integer_sequence<int, 2, 3, 4, 5, 7, 8, 11, 13>()))
      PassOfPrime<kPlace>(pass, from, to, roots, scale);
  }

  // Numbers of the first of `after` rows have no roots within, but behind the last pass each row has one.
  template <int kRadix, Place kPlace>
  static void PassOf(const LanePass& pass, const LaneRows<const T>& from, const LaneRows<T>& to, const T* all_roots,
                     T scale) {
    const T* circle = static_cast<const T*>(pass.circle);
    const uint64_t before = pass.before, after = pass.after;
    for (uint64_t k = 0; k < before; ++k) {
      const T* roots = all_roots;
      for (uint64_t i = 0; i < after; ++i) {
        Complex x[kRadix];
#pragma clang loop unroll(full)
        for (int j = 0; j < kRadix; ++j) x[j] = Load(from, i + after * (k * kRadix + j));
        Butterfly<kRadix, T, Value>::Run(x, circle);
        if constexpr (kPlace == Place::kLast) {
#pragma clang loop unroll(full)
          for (int j = 0; j < kRadix; ++j) x[j] = Scaled(x[j], scale);
        } else if constexpr (kPlace == Place::kLastWithRoots) {
#pragma clang loop unroll(full)
          for (int j = 0; j < kRadix; ++j) {
            const T* root = roots + 2 * (k + before * j);
            x[j] = x[j].Times(root[0], root[1]);
          }
        } else if (i > 0) {
#pragma clang loop unroll(full)
          for (int j = 1; j < kRadix; ++j) x[j] = x[j].Times(roots[2 * j - 2], roots[2 * j - 1]);
          roots += 2 * (kRadix - 1);
        }
#pragma clang loop unroll(full)
        for (int j = 0; j < kRadix; ++j) Store(to, i + after * (k + before * j), x[j]);
      }
    }
  }

  // By definition, a pair of results at a time.
  template <Place kPlace>
  static void PassOfPrime(const LanePass& pass, const LaneRows<const T>& from, const LaneRows<T>& to,
                          const T* all_roots, T scale) {
    const T* circle = static_cast<const T*>(pass.circle);
    const uint64_t before = pass.before, after = pass.after, radix = pass.radix, half = (radix - 1) / 2;
    Complex sum[kMostRadix / 2], difference[kMostRadix / 2];
    for (uint64_t k = 0; k < before; ++k) {
      for (uint64_t i = 0; i < after; ++i) {
        const T* roots = all_roots + (i == 0 ? 0 : 2 * (radix - 1) * (i - 1));
        auto finish = [&](uint64_t j, Complex value) {
          if constexpr (kPlace == Place::kLast) {
            value = Scaled(value, scale);
          } else if constexpr (kPlace == Place::kLastWithRoots) {
            value = value.Times(all_roots[2 * (k + before * j)], all_roots[2 * (k + before * j) + 1]);
          } else if (i > 0 && j > 0) {
            value = value.Times(roots[2 * j - 2], roots[2 * j - 1]);
          }
          Store(to, i + after * (k + before * j), value);
        };
        const Complex first = Load(from, i + after * k * radix);
        Complex total = first;
        for (uint64_t j = 0; j < half; ++j) {
          const Complex a = Load(from, i + after * (k * radix + j + 1));
          const Complex b = Load(from, i + after * (k * radix + radix - 1 - j));
          sum[j] = a + b;
          difference[j] = a - b;
          total = total + sum[j];
        }
        finish(0, total);
        for (uint64_t m = 1; m <= half; ++m) {
          Complex even = first, odd = {Value{}, Value{}};
          for (uint64_t j = 0, position = 0; j < half; ++j) {
            position += m;
            if (position >= radix) position -= radix;
            const T re = circle[2 * position], im = circle[2 * position + 1];
            even = {even.re + sum[j].re * re, even.im + sum[j].im * re};
            odd = {odd.re + difference[j].re * im, odd.im + difference[j].im * im};
          }
          finish(m, even + odd.TimesMinusI());
          finish(radix - m, even - odd.TimesMinusI());
        }
      }
    }
  }
};

template <typename T, int kBytes>
class LaneMovement {
 public:
  static void LoadColumns(const Numbers<const T>& from, int64_t pitch, uint64_t rows, uint64_t count,
                          const LaneRows<T>& to) {
    const Masks masks(count);
    for (uint64_t row = 0; row < rows; ++row) {
      const Complex value = LoadNumbers(from.At(static_cast<int64_t>(row) * pitch), count, masks);
      L::Store(to.re + static_cast<int64_t>(row) * to.stride, value.re);
      L::Store(to.im + static_cast<int64_t>(row) * to.stride, value.im);
    }
  }

  static void StoreColumns(const LaneRows<const T>& from, uint64_t rows, uint64_t count, const Numbers<T>& to,
                           int64_t pitch) {
    const Masks masks(count);
    for (uint64_t row = 0; row < rows; ++row) {
      const int64_t offset = static_cast<int64_t>(row) * from.stride;
      StoreNumbers({L::Load(from.re + offset), L::Load(from.im + offset)}, to.At(static_cast<int64_t>(row) * pitch),
                   count, masks);
    }
  }

  static void LoadLines(const T* from, int64_t pitch, uint64_t rows, uint64_t count, T* to, int64_t stride) {
    for (uint64_t row = 0; row < rows; row += kLanes) {
      const uint64_t width = std::min<uint64_t>(rows - row, kLanes);
      const Mask mask = L::First(width);
      Value block[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        const T* line = from + lane * pitch + static_cast<int64_t>(row);
        if (static_cast<uint64_t>(lane) >= count)
          block[lane] = Value{};
        else
          block[lane] = width == kLanes ? L::Load(line) : L::Load(line, mask);
      }
      L::Transpose(block);
      for (uint64_t i = 0; i < width; ++i) L::Store(to + static_cast<int64_t>(row + i) * stride, block[i]);
    }
  }

  static void StoreLines(const T* from, int64_t stride, uint64_t rows, uint64_t count, T* to, int64_t pitch) {
    for (uint64_t row = 0; row < rows; row += kLanes) {
      const uint64_t width = std::min<uint64_t>(rows - row, kLanes);
      const Mask mask = L::First(width);
      Value block[kLanes];
      for (uint64_t i = 0; i < kLanes; ++i)
        block[i] = i < width ? L::Load(from + static_cast<int64_t>(row + i) * stride) : Value{};
      L::Transpose(block);
      for (uint64_t lane = 0; lane < count; ++lane) {
        T* line = to + static_cast<int64_t>(lane) * pitch + static_cast<int64_t>(row);
        width == kLanes ? L::Store(line, block[lane]) : L::Store(line, mask, block[lane]);
      }
    }
  }

  static void Turn(const LaneRows<const T>& from, uint64_t rows, uint64_t count, const Numbers<const T>& roots,
                   int64_t root_pitch, const Numbers<const T>* spread, const Numbers<T>& to, int64_t pitch) {
    for (uint64_t row = 0; row < rows; row += kLanes) {
      Value re[kLanes], im[kLanes];
      for (uint64_t i = 0; i < kLanes; ++i) {
        if (row + i >= rows) {
          re[i] = im[i] = Value{};
          continue;
        }
        const auto r = static_cast<int64_t>(row + i);
        const T* root_re = roots.re + r * root_pitch;
        const T* root_im = roots.im + r * root_pitch;
        Complex root = {L::Load(root_re), L::Load(root_im)};
        if (spread != nullptr) root = root.Times(spread->re[r], spread->im[r]);
        const Complex value = {L::Load(from.re + r * from.stride), L::Load(from.im + r * from.stride)};
        const Complex turned = value.Times(root.re, root.im);
        re[i] = turned.re;
        im[i] = turned.im;
      }
      L::Transpose(re);
      L::Transpose(im);
      for (uint64_t lane = 0; lane < count; ++lane) {
        const int64_t offset = static_cast<int64_t>(lane) * pitch + static_cast<int64_t>(row);
        L::Store(to.re + offset, re[lane]);
        L::Store(to.im + offset, im[lane]);
      }
    }
  }

  static void Multiply(const Numbers<const T>& from, const Numbers<const T>& by, T scale, uint64_t count,
                       const Numbers<T>& to) {
    ForEachVector(count, [&](int64_t i, uint64_t width, const Masks& masks) {
      const Complex factor = LoadNumbers(by.At(i), width, masks);
      const Complex product = LoadNumbers(from.At(i), width, masks).Times(factor.re, factor.im);
      StoreNumbers({product.re * scale, product.im * scale}, to.At(i), width, masks);
    });
  }

  static void PartReal(const Numbers<const T>& z, const Numbers<const T>& roots, uint64_t half, const Numbers<T>& to) {
    ForEachVector(half + 1, [&](int64_t i, uint64_t width, const Masks& masks) {
      const Complex value = LoadNumbers(z.At(i), width, masks), mirrored = Mirrored(z, half, i, width);
      const Complex even = value + mirrored;
      const Complex root = LoadNumbers(roots.At(i), width, masks);
      const Complex odd = (value - mirrored).TimesMinusI().Times(root.re, root.im);
      StoreNumbers({(even.re + odd.re) * T(0.5), (even.im + odd.im) * T(0.5)}, to.At(i), width, masks);
    });
  }

  static void JoinReal(const Numbers<const T>& x, const Numbers<const T>& roots, T scale, uint64_t half,
                       const Numbers<T>& to) {
    ForEachVector(half, [&](int64_t i, uint64_t width, const Masks& masks) {
      const Complex value = LoadNumbers(x.At(i), width, masks), mirrored = Mirrored(x, half, i, width);
      const Complex root = LoadNumbers(roots.At(i), width, masks);
      // Times i and the conjugate root.
      const Complex odd = (value - mirrored).Times(root.re, -root.im);
      const Complex even = value + mirrored;
      StoreNumbers({(even.re - odd.im) * scale, (even.im + odd.re) * scale}, to.At(i), width, masks);
    });
  }

  static void PartRealLanes(const LaneRows<const T>& z, const Numbers<const T>& roots, uint64_t half, T scale,
                            const LaneRows<T>& to) {
    for (uint64_t k = 0; k <= half; ++k) {
      const Complex value = LoadRow(z, k == half ? 0 : k), mirrored = Conjugate(LoadRow(z, k == 0 ? 0 : half - k));
      const Complex even = value + mirrored, odd = (value - mirrored).TimesMinusI().Times(roots.re[k], roots.im[k]);
      StoreRow(to, k, {(even.re + odd.re) * (scale / 2), (even.im + odd.im) * (scale / 2)});
    }
  }

  static void JoinRealLanes(const LaneRows<const T>& x, const Numbers<const T>& roots, uint64_t half,
                            const LaneRows<T>& to) {
    for (uint64_t k = 0; k < half; ++k) {
      Complex value = LoadRow(x, k), mirrored = Conjugate(LoadRow(x, half - k));
      if (k == 0) value.im = mirrored.im = Value{};
      const Complex even = value + mirrored, odd = (value - mirrored).Times(roots.re[k], -roots.im[k]);
      StoreRow(to, k, {even.re - odd.im, even.im + odd.re});
    }
  }

 private:
  using L = FftLanes<T, kBytes>;
  using Value = typename L::Value;
  using Mask = typename L::Mask;
  using Complex = ComplexLanes<Value>;
  static constexpr int kLanes = L::kCount;

  // Of `count` lanes: those of two tensors, and those of two vectors of interleaved numbers.
  struct Masks {
    Mask own, first, second;
    explicit Masks(uint64_t count)
        : own(L::First(count)),
          first(L::First(2 * count)),
          second(L::First(2 * count > kLanes ? 2 * count - kLanes : 0)) {}
  };

  template <typename Body>
  [[gnu::always_inline]] static void ForEachVector(uint64_t count, const Body& body) {
    const Masks whole(kLanes);
    const uint64_t end = count / kLanes * kLanes;
    for (uint64_t i = 0; i < end; i += kLanes) body(static_cast<int64_t>(i), uint64_t{kLanes}, whole);
    if (end < count) body(static_cast<int64_t>(end), count - end, Masks(count - end));
  }

  [[gnu::always_inline]] static Complex LoadNumbers(const Numbers<const T>& from, uint64_t count, const Masks& masks) {
    const bool is_whole = count == kLanes;
    if (from.step == 1) {
      const Value re = is_whole ? L::Load(from.re) : L::Load(from.re, masks.own);
      if (from.im == nullptr) return {re, Value{}};
      return {re, is_whole ? L::Load(from.im) : L::Load(from.im, masks.own)};
    }
    const T* start = from.re < from.im ? from.re : from.im;
    const Value a = is_whole ? L::Load(start) : L::Load(start, masks.first);
    const Value b = is_whole ? L::Load(start + kLanes) : L::Load(start + kLanes, masks.second);
    const Value even = L::template Every2nd<0>(a, b), odd = L::template Every2nd<1>(a, b);
    return from.re < from.im ? Complex{even, odd} : Complex{odd, even};
  }

  [[gnu::always_inline]] static void StoreNumbers(Complex value, const Numbers<T>& to, uint64_t count,
                                                  const Masks& masks) {
    const bool is_whole = count == kLanes;
    if (to.step == 1) {
      is_whole ? L::Store(to.re, value.re) : L::Store(to.re, masks.own, value.re);
      if (to.im != nullptr) is_whole ? L::Store(to.im, value.im) : L::Store(to.im, masks.own, value.im);
      return;
    }
    const bool is_swapped = to.im < to.re;
    T* start = is_swapped ? to.im : to.re;
    const Value even = is_swapped ? value.im : value.re, odd = is_swapped ? value.re : value.im;
    const Value a = L::template InTurn<0>(even, odd), b = L::template InTurn<1>(even, odd);
    is_whole ? L::Store(start, a) : L::Store(start, masks.first, a);
    is_whole ? L::Store(start + kLanes, b) : L::Store(start + kLanes, masks.second, b);
  }

  [[gnu::always_inline]] static Complex LoadRow(const LaneRows<const T>& rows, uint64_t row) {
    const int64_t offset = static_cast<int64_t>(row) * rows.stride;
    return {L::Load(rows.re + offset), L::Load(rows.im + offset)};
  }
  [[gnu::always_inline]] static void StoreRow(const LaneRows<T>& rows, uint64_t row, Complex value) {
    const int64_t offset = static_cast<int64_t>(row) * rows.stride;
    L::Store(rows.re + offset, value.re);
    L::Store(rows.im + offset, value.im);
  }
  [[gnu::always_inline]] static Complex Conjugate(Complex value) { return {value.re, -value.im}; }

  // Conjugates of numbers half - i, half - i - 1, ...
  [[gnu::always_inline]] static Complex Mirrored(const Numbers<const T>& from, uint64_t half, int64_t i,
                                                 uint64_t count) {
    const int64_t last = static_cast<int64_t>(half) - i;
    if (count == kLanes) {
      return {L::Reverse(L::Load(from.re + last - kLanes + 1)), -L::Reverse(L::Load(from.im + last - kLanes + 1))};
    }
    Complex value = {Value{}, Value{}};
    for (uint64_t lane = 0; lane < count; ++lane) {
      value.re[lane] = from.re[last - static_cast<int64_t>(lane)];
      value.im[lane] = -from.im[last - static_cast<int64_t>(lane)];
    }
    return value;
  }
};

template <typename T, int kBytes>
const FftKernels<T>& KernelsOfWidth() {
  using Movement = LaneMovement<T, kBytes>;
  static constexpr FftKernels<T> kKernels = {kBytes / sizeof(T),      LaneTransform<T, kBytes>::Run,
                                             Movement::LoadColumns,   Movement::StoreColumns,
                                             Movement::LoadLines,     Movement::StoreLines,
                                             Movement::Turn,          Movement::Multiply,
                                             Movement::PartReal,      Movement::JoinReal,
                                             Movement::PartRealLanes, Movement::JoinRealLanes};
  return kKernels;
}

}  // namespace
}  // namespace sgd::cpu
