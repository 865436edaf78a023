// The kernels of packed_kernels.h for one instruction set, by clang's vector types. Each source that
// includes this is compiled with the flags of its set, so nothing here may have external linkage: the linker
// would keep one copy for all CPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "targets/cpu/device/matmul/packed_kernels.h"

namespace sgd::cpu {
namespace {

template <typename T>
constexpr bool kIsFloat = static_cast<T>(0.5) != T{0};

template <typename T, T... kIndex>
struct Indices {};

template <typename T, int kLanes>
using Vector __attribute__((ext_vector_type(kLanes))) = T;

// Widening to the accumulator type, and rounding back to nearest even. Integers are summed
// without a sign, so that they wrap around.
template <typename T, typename S>
struct Number {
  using Stored = T;
  using Sum = S;
  static constexpr bool kIsSignedInteger = !kIsFloat<T> && T(-1) < T{0};
  using SignedSum = typename std::conditional_t<kIsFloat<S>, std::type_identity<S>, std::make_signed<S>>::type;
  using Accumulators = Number<std::conditional_t<kIsSignedInteger, SignedSum, S>, S>;  // as elements of their own
  template <int kLanes>
  static Vector<Sum, kLanes> Widen(Vector<T, kLanes> value) {
    return __builtin_convertvector(value, Vector<Sum, kLanes>);
  }
  static Sum Widen(T value) { return static_cast<Sum>(value); }
  static T Narrow(Sum value) { return static_cast<T>(value); }
  static bool IsNegative(Sum value) {
    if constexpr (kIsFloat<Sum>) {
      return value < Sum{0};
    } else {
      return Narrow(value) < T{0};
    }
  }
};

struct BFloat16 {
  using Stored = uint16_t;
  using Sum = float;
  using Accumulators = Number<float, float>;
  template <int kLanes>
  static Vector<float, kLanes> Widen(Vector<uint16_t, kLanes> value) {
    return __builtin_bit_cast(Vector<float, kLanes>, __builtin_convertvector(value, Vector<uint32_t, kLanes>) << 16);
  }
  static float Widen(uint16_t value) { return __builtin_bit_cast(float, uint32_t{value} << 16); }
  static uint16_t Narrow(float value) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    return static_cast<uint16_t>((value != value ? bits | 0x400000 : rounded) >> 16);
  }
  static bool IsNegative(float value) { return value < 0; }
};

// Vectors of an instruction set; kBytes long.
template <typename T, int kBytes>
struct Lanes {
  static constexpr int kCount = kBytes / static_cast<int>(sizeof(T));
  using Value = Vector<T, kCount>;
  using Mask = Vector<bool, kCount>;
  typedef Value Loose __attribute__((aligned(alignof(T)), may_alias));

  [[gnu::always_inline]] static Value Load(const T* from) { return *reinterpret_cast<const Loose*>(from); }
  [[gnu::always_inline]] static void Store(T* to, Value value) { *reinterpret_cast<Loose*>(to) = value; }
  [[gnu::always_inline]] static Mask First(uint64_t count) {
    Vector<uint32_t, kCount> lane;
    for (int i = 0; i < kCount; ++i) lane[i] = static_cast<uint32_t>(i);
    return __builtin_convertvector(lane < static_cast<uint32_t>(count), Mask);
  }
  // Touch no memory behind the first elements.
  [[gnu::always_inline]] static Value Load(const T* from, Mask mask) {
    return __builtin_masked_load(mask, from, Value{});
  }
  [[gnu::always_inline]] static void Store(T* to, Mask mask, Value value) { __builtin_masked_store(mask, value, to); }
  [[gnu::always_inline]] static Value MultiplyAdd(Value a, Value b, Value sum) {
    if constexpr (kIsFloat<T>) {
      return __builtin_elementwise_fma(a, b, sum);
    } else {
      return sum + a * b;
    }
  }
};

// The matmul of a panel of kRows rows and one of kVectors vectors of columns, with all accumulators in
// registers. By lanes, elements of rows are vectors.
template <typename T, int kBytes, int kRows, int kVectors, bool kByLanes = false>
class Multiply {
 public:
  static void Run(const MicroTile& given) {
    const MicroTile tile = given;  // what is stored may not alias it
    T* c = reinterpret_cast<T*>(tile.c);
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kVectors; ++j) __builtin_prefetch(c + i * tile.c_m + j * kLanes, 1);
    }
    Accumulators accumulators;
    Add(tile, accumulators);
    if (tile.column_bias == nullptr && tile.row_bias == nullptr && !tile.relu && tile.columns == kVectors * kLanes) {
      if (tile.adds) {
        StoreWhole<true>(tile, accumulators);
      } else {
        StoreWhole<false>(tile, accumulators);
      }
    } else {
      StorePart(tile, accumulators);
    }
  }

 private:
  using L = Lanes<T, kBytes>;
  using Value = typename L::Value;
  static constexpr int kLanes = L::kCount;
  struct Accumulators {
    Value at[kRows][kVectors];
  };
  // Rows are addressed from every third one on: base, base + stride and base + 2 strides are addresses
  // that instructions have.
  static constexpr int kBases = (kRows + 2) / 3;

  [[gnu::always_inline]] static void Add(const MicroTile& tile, Accumulators& accumulators) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
#pragma clang loop unroll(full)
      for (int j = 0; j < kVectors; ++j) accumulators.at[i][j] = Value{};
    }
    const T* a[kBases];
    for (int i = 0; i < kBases; ++i) a[i] = reinterpret_cast<const T*>(tile.a) + 3 * i * tile.a_m;
    const T* b = reinterpret_cast<const T*>(tile.b);
    const std::byte* ahead = tile.ahead;
    uint64_t pieces = tile.ahead_pieces;
    for (uint64_t left = tile.k; left > 0;) {
      for (uint64_t i = pieces < tile.ahead_at_once ? pieces : tile.ahead_at_once; i > 0; --i) {
        for (uint64_t byte = 0; byte < tile.ahead_bytes; byte += 64) __builtin_prefetch(ahead + byte, 0, 2);
        ahead += tile.ahead_stride;
        --pieces;
      }
      uint64_t k = left < MicroTile::kAheadDepth ? left : MicroTile::kAheadDepth;
      left -= k;
      // Unrolled further, it would need more registers than there are.
#pragma clang loop unroll(disable)
      for (; k > 0; --k) {
        Value columns[kVectors];
        // With few rows, memory decides, and B may be read at strides that no cache foresees.
        if constexpr (kRows <= 4) __builtin_prefetch(b + 16 * tile.b_k);
#pragma clang loop unroll(full)
        for (int j = 0; j < kVectors; ++j) columns[j] = L::Load(b + j * kLanes);
#pragma clang loop unroll(full)
        for (int i = 0; i < kRows; ++i) {
          const Value row = Row(a[i / 3] + i % 3 * tile.a_m);
#pragma clang loop unroll(full)
          for (int j = 0; j < kVectors; ++j)
            accumulators.at[i][j] = L::MultiplyAdd(row, columns[j], accumulators.at[i][j]);
        }
#pragma clang loop unroll(full)
        for (int i = 0; i < kBases; ++i) a[i] += tile.a_k;
        b += tile.b_k;
      }
    }
  }

  [[gnu::always_inline]] static Value Row(const T* element) {
    if constexpr (kByLanes) {
      return L::Load(element);
    } else {
      return *element;
    }
  }

  template <bool kAdds>
  [[gnu::always_inline]] static void StoreWhole(const MicroTile& tile, const Accumulators& accumulators) {
    T* c = reinterpret_cast<T*>(tile.c);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
#pragma clang loop unroll(full)
      for (int j = 0; j < kVectors; ++j) {
        Value value = accumulators.at[i][j];
        if constexpr (kAdds) value = L::Load(c + j * kLanes) + value;
        L::Store(c + j * kLanes, value);
      }
      c += tile.c_m;
    }
  }

  // The last vector may have columns that are not there.
  [[gnu::always_inline]] static void StorePart(const MicroTile& tile, const Accumulators& accumulators) {
    T* c = reinterpret_cast<T*>(tile.c);
    const T* column_bias = reinterpret_cast<const T*>(tile.column_bias);
    const T* row_bias = reinterpret_cast<const T*>(tile.row_bias);
    const auto last = L::First(tile.columns - (kVectors - 1) * kLanes);
    const auto all = L::First(kLanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
#pragma clang loop unroll(full)
      for (int j = 0; j < kVectors; ++j) {
        const auto mask = j + 1 == kVectors ? last : all;
        Value value = accumulators.at[i][j];
        if (tile.adds) value = L::Load(c + j * kLanes, mask) + value;
        if (column_bias != nullptr) value += L::Load(column_bias + j * kLanes, mask);
        if (row_bias != nullptr) value += row_bias[i];
        if (tile.relu) value = value < Value{} ? Value{} : value;
        L::Store(c + j * kLanes, mask, value);
      }
      c += tile.c_m;
    }
  }
};

// Packing of panels whose elements are widened to the accumulator type.
template <typename Element, int kBytes>
class Packer {
 public:
  static void Run(const PanelSource& source, uint64_t width, std::byte* target) {
    Sum* to = reinterpret_cast<Sum*>(target);
    for (uint64_t first = 0; first < width; first += kLanes) {
      const uint64_t count = source.count <= first ? 0 : source.count - first < kLanes ? source.count - first : kLanes;
      const Stored* from = reinterpret_cast<const Stored*>(source.base) + static_cast<int64_t>(first) * source.across;
      if (source.across == 1) {
        PackLines(source, from, count, width, to + first);
      } else {
        PackAcross(source, from, count, width, to + first);
      }
    }
  }

 private:
  using Stored = typename Element::Stored;
  using Sum = typename Element::Sum;
  using L = Lanes<Sum, kBytes>;
  static constexpr uint64_t kLanes = L::kCount;
  using From = Lanes<Stored, static_cast<int>(kLanes * sizeof(Stored))>;
  using Value = typename L::Value;

  static constexpr uint64_t kSquaresAhead = 4;

  // Every k has its elements next to each other.
  static void PackLines(const PanelSource& source, const Stored* from, uint64_t count, uint64_t width, Sum* to) {
    if (count == kLanes) {
      for (uint64_t k = 0; k < source.k; ++k, from += source.along_k, to += width) {
        L::Store(to, Element::template Widen<kLanes>(From::Load(from)));
      }
      return;
    }
    const auto mask = From::First(count);
    for (uint64_t k = 0; k < source.k; ++k, from += source.along_k, to += width) {
      L::Store(to, Element::template Widen<kLanes>(From::Load(from, mask)));
    }
  }

  static void PackAcross(const PanelSource& source, const Stored* from, uint64_t count, uint64_t width, Sum* to) {
    uint64_t k = 0;
    if (source.along_k == 1) {
      for (; k + kLanes <= source.k; k += kLanes) {
        for (uint64_t i = 0; i < count; ++i) {
          __builtin_prefetch(from + k + kSquaresAhead * kLanes + static_cast<int64_t>(i) * source.across, 0, 2);
        }
        PackSquare(from + k, source.across, count, width, to + k * width);
      }
    }
    for (; k < source.k; ++k) {
      Sum* line = to + k * width;
      const Stored* element = from + static_cast<int64_t>(k) * source.along_k;
      for (uint64_t i = 0; i < kLanes; ++i) {
        line[i] = i < count ? Element::Widen(element[static_cast<int64_t>(i) * source.across]) : Sum{0};
      }
    }
  }

  // Transposes kLanes x kLanes elements: log2(kLanes) times, the vectors of the upper and the lower half are
  // shuffled into each other like cards.
  static void PackSquare(const Stored* from, int64_t across, uint64_t count, uint64_t width, Sum* to) {
    constexpr auto kAll = __make_integer_seq<Indices, int, static_cast<int>(kLanes)>{};
    Value lines[kLanes];
#pragma clang loop unroll(full)
    for (uint64_t i = 0; i < kLanes; ++i) {
      lines[i] =
          i < count ? Element::template Widen<kLanes>(From::Load(from + static_cast<int64_t>(i) * across)) : Value{};
    }
#pragma clang loop unroll(full)
    for (uint64_t step = 1; step < kLanes; step *= 2) {
      Value shuffled[kLanes];
#pragma clang loop unroll(full)
      for (uint64_t i = 0; i < kLanes / 2; ++i) {
        shuffled[2 * i] = Interleave<0>(lines[i], lines[i + kLanes / 2], kAll);
        shuffled[2 * i + 1] = Interleave<kLanes / 2>(lines[i], lines[i + kLanes / 2], kAll);
      }
#pragma clang loop unroll(full)
      for (uint64_t i = 0; i < kLanes; ++i) lines[i] = shuffled[i];
    }
#pragma clang loop unroll(full)
    for (uint64_t i = 0; i < kLanes; ++i) L::Store(to + i * width, lines[i]);
  }

  template <int kFirst, int... kIndex>
  [[gnu::always_inline]] static Value Interleave(Value a, Value b, Indices<int, kIndex...>) {
    return __builtin_shufflevector(a, b, (kFirst + kIndex / 2 + kIndex % 2 * static_cast<int>(kLanes))...);
  }
};

template <typename Element, int kBytes>
void WidenLine(const StridedLine& line, std::byte* target) {
  using Stored = typename Element::Stored;
  using Sum = typename Element::Sum;
  using L = Lanes<Sum, kBytes>;
  constexpr uint64_t kLanes = L::kCount;
  using From = Lanes<Stored, static_cast<int>(kLanes * sizeof(Stored))>;
  const Stored* from = reinterpret_cast<const Stored*>(line.base);
  Sum* to = reinterpret_cast<Sum*>(target);
  uint64_t i = 0;
  if (line.stride == 1) {
    for (; i + kLanes <= line.count; i += kLanes)
      L::Store(to + i, Element::template Widen<kLanes>(From::Load(from + i)));
    if (i < line.count) {
      const Vector<Stored, kLanes> rest = From::Load(from + i, From::First(line.count - i));
      L::Store(to + i, L::First(line.count - i), Element::template Widen<kLanes>(rest));
    }
    return;
  }
  for (; i < line.count; ++i) to[i] = Element::Widen(from[static_cast<int64_t>(i) * line.stride]);
}

template <typename Element>
void Finish(const FinishedTile& tile) {
  using Stored = typename Element::Stored;
  using Sum = typename Element::Sum;
  const Stored* column_bias = reinterpret_cast<const Stored*>(tile.column_bias);
  const Stored* row_bias = reinterpret_cast<const Stored*>(tile.row_bias);
  for (uint64_t i = 0; i < tile.rows; ++i) {
    Sum* accumulators = reinterpret_cast<Sum*>(tile.accumulators) + i * tile.accumulators_stride;
    Stored* c = reinterpret_cast<Stored*>(tile.c) + static_cast<int64_t>(i) * tile.c_m;
    if (column_bias != nullptr) {
      for (uint64_t j = 0; j < tile.columns; ++j) accumulators[j] += Element::Widen(column_bias[j]);
    }
    if (row_bias != nullptr) {
      for (uint64_t j = 0; j < tile.columns; ++j) accumulators[j] += Element::Widen(row_bias[i]);
    }
    if (tile.adds) {
      for (uint64_t j = 0; j < tile.columns; ++j)
        accumulators[j] += Element::Widen(c[static_cast<int64_t>(j) * tile.c_n]);
    }
    if (tile.relu) {
      for (uint64_t j = 0; j < tile.columns; ++j)
        accumulators[j] = Element::IsNegative(accumulators[j]) ? Sum{0} : accumulators[j];
    }
    if (tile.c_n == 1) {
      for (uint64_t j = 0; j < tile.columns; ++j) c[j] = Element::Narrow(accumulators[j]);
    } else {
      for (uint64_t j = 0; j < tile.columns; ++j)
        c[static_cast<int64_t>(j) * tile.c_n] = Element::Narrow(accumulators[j]);
    }
  }
}

template <typename Sum, int kBytes, int kRows, int... kIndex>
constexpr void FillMultiply(PackedKernels& kernels, Indices<int, kIndex...>) {
  ((kernels.multiply[kIndex][0] = Multiply<Sum, kBytes, kIndex + 1, 1>::Run,
    kernels.multiply[kIndex][1] = Multiply<Sum, kBytes, kIndex + 1, 2>::Run,
    kernels.multiply_lanes[kIndex] = Multiply<Sum, kBytes, kIndex + 1, 1, true>::Run),
   ...);
}

// `kRows`: as many as leave the registers for two vectors of columns and one of rows.
template <typename Element, int kBytes, int kRows>
constexpr PackedKernels MakeKernels() {
  using Sum = typename Element::Sum;
  constexpr uint64_t kLanes = kBytes / sizeof(Sum);
  PackedKernels kernels{};
  kernels.accumulator_size = sizeof(Sum);
  kernels.is_direct = sizeof(Sum) == sizeof(typename Element::Stored);
  kernels.has_relu = kIsFloat<Sum>;
  kernels.rows = kRows;
  kernels.vector = kLanes;
  kernels.panel_rows = (kRows + kLanes - 1) / kLanes * kLanes;
  kernels.panel_columns = PackedKernels::kMostVectors * kLanes;
  FillMultiply<Sum, kBytes, kRows>(kernels, __make_integer_seq<Indices, int, kRows>{});
  kernels.pack = Packer<Element, kBytes>::Run;
  kernels.widen = WidenLine<Element, kBytes>;
  kernels.finish = Finish<Element>;
  kernels.finish_as_accumulators = Finish<typename Element::Accumulators>;
  return kernels;
}

// Accumulators of small integers wrap around in 32 bits; their low 8 or 16 bits are the same.
template <int kBytes, int kRows>
const PackedKernels* KernelsOf(artifact::ElementType element) {
  using artifact::ElementType;
#define SGD_KERNELS(...)                                                                \
  {                                                                                     \
    static constexpr PackedKernels kernels = MakeKernels<__VA_ARGS__, kBytes, kRows>(); \
    return &kernels;                                                                    \
  }
  switch (element) {
    case ElementType::Bool:
    case ElementType::F8E4M3FN:
    case ElementType::F8E5M2:
    case ElementType::C64:
      return nullptr;
    case ElementType::I8:
      SGD_KERNELS(Number<int8_t, uint32_t>)
    case ElementType::U8:
      SGD_KERNELS(Number<uint8_t, uint32_t>)
    case ElementType::I16:
      SGD_KERNELS(Number<int16_t, uint32_t>)
    case ElementType::U16:
      SGD_KERNELS(Number<uint16_t, uint32_t>)
    case ElementType::I32:
      SGD_KERNELS(Number<int32_t, uint32_t>)
    case ElementType::U32:
      SGD_KERNELS(Number<uint32_t, uint32_t>)
    case ElementType::I64:
      SGD_KERNELS(Number<int64_t, uint64_t>)
    case ElementType::U64:
      SGD_KERNELS(Number<uint64_t, uint64_t>)
    case ElementType::F16:
      SGD_KERNELS(Number<_Float16, float>)
    case ElementType::BF16:
      SGD_KERNELS(BFloat16)
    case ElementType::F32:
      SGD_KERNELS(Number<float, float>)
    case ElementType::F64:
      SGD_KERNELS(Number<double, double>)
  }
  return nullptr;
#undef SGD_KERNELS
}

}  // namespace
}  // namespace sgd::cpu
