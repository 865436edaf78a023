// The loops behind reduce_kernels.h, written for the vectoriser; compiled once per instruction set,
// hence all in an unnamed namespace and without headers that could leave inline functions behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "runtime/comm/kernels/reduce_kernels.h"

namespace sgd::comm {
namespace {

constexpr size_t kDirectBlockBytes = 128;

template <class To, class From>
inline To Bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// How elements are stored (Element), and in what they are computed (Value).
template <class T>
struct Plain {
  using Element = T;
  using Value = T;
  static inline Value Load(Element element) { return element; }
  static inline Element Round(Value value) { return value; }
};

struct Bfloat16 {
  using Element = uint16_t;
  using Value = float;
  static inline Value Load(Element element) { return Bits<float>(uint32_t{element} << 16); }
  // To nearest, ties to even; a NaN stays one.
  static inline Element Round(Value value) {
    const uint32_t bits = Bits<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const uint32_t nan = (bits >> 16) | 0x40;
    return static_cast<Element>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
  }
};

struct Float16 {
  using Element = _Float16;
  using Value = float;
  static inline Value Load(Element element) { return static_cast<float>(element); }
  static inline Element Round(Value value) { return static_cast<Element>(value); }
};

// Integers are unsigned here where the sign does not matter, so that they wrap around.
struct Add {
  template <class T>
  static inline T Apply(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Mul {
  template <class T>
  static inline T Apply(T a, T b) {
    if constexpr (sizeof(T) == 2) {
      return static_cast<T>(uint32_t{a} * uint32_t{b});  // u16 would be promoted to int and overflow
    } else {
      return static_cast<T>(a * b);
    }
  }
};
struct And {
  template <class T>
  static inline T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static inline T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
// Equal floats differ at most in the sign of zero, which and/or of their bits settles.
struct Max {
  template <class T>
  static inline T Apply(T a, T b) {
    return a > b ? a : b;
  }
  static inline float Apply(float a, float b) {
    const float equal = Bits<float>(Bits<uint32_t>(a) & Bits<uint32_t>(b));
    return a == b ? equal : (a > b || a != a) ? a : b;
  }
  static inline double Apply(double a, double b) {
    const double equal = Bits<double>(Bits<uint64_t>(a) & Bits<uint64_t>(b));
    return a == b ? equal : (a > b || a != a) ? a : b;
  }
};
struct Min {
  template <class T>
  static inline T Apply(T a, T b) {
    return a < b ? a : b;
  }
  static inline float Apply(float a, float b) {
    const float equal = Bits<float>(Bits<uint32_t>(a) | Bits<uint32_t>(b));
    return a == b ? equal : (a < b || a != a) ? a : b;
  }
  static inline double Apply(double a, double b) {
    const double equal = Bits<double>(Bits<uint64_t>(a) | Bits<uint64_t>(b));
    return a == b ? equal : (a < b || a != a) ? a : b;
  }
};

// The tree over element i of `kSources` sources.
template <class Type, class Op, size_t kSources>
inline typename Type::Value Tree(const typename Type::Element* const* sources, size_t i) {
  constexpr size_t kLeft = kSources > 4 ? 4 : kSources > 2 ? 2 : 1;
  if constexpr (kSources == 1) {
    return Type::Load(sources[0][i]);
  } else {
    return Op::Apply(Tree<Type, Op, kLeft>(sources, i), Tree<Type, Op, kSources - kLeft>(sources + kLeft, i));
  }
}

template <class Type, size_t kSources>
struct Sources {
  using Element = typename Type::Element;
  explicit Sources(const std::byte* const* sources) {
    for (size_t s = 0; s < kSources; ++s) pointers[s] = reinterpret_cast<const Element*>(sources[s]);
  }
  const Element* pointers[kSources];
};

template <class Type, class Op, size_t kSources>
void Leaves(const std::byte* const* sources, void* accumulator, size_t count) {
  const Sources<Type, kSources> from(sources);
  auto* __restrict out = static_cast<typename Type::Value*>(accumulator);
  for (size_t i = 0; i < count; ++i) out[i] = Tree<Type, Op, kSources>(from.pointers, i);
}

template <class Type, class Op>
void Join(void* left, const void* right, size_t count) {
  auto* __restrict out = static_cast<typename Type::Value*>(left);
  const auto* __restrict x = static_cast<const typename Type::Value*>(right);
  for (size_t i = 0; i < count; ++i) out[i] = Op::Apply(out[i], x[i]);
}

template <class Type>
void Finish(const void* accumulator, void* result, size_t count) {
  const auto* __restrict in = static_cast<const typename Type::Value*>(accumulator);
  auto* __restrict out = static_cast<typename Type::Element*>(result);
  for (size_t i = 0; i < count; ++i) out[i] = Type::Round(in[i]);
}

// By stores that need not read the lines first, as wide as there are: two operands of 8 MiB take 389 us with 32 bytes
// at a time, 485 with 16. All on cache lines.
inline void StreamBlock(std::byte* target, const void* block, size_t bytes) {
#if defined(__AVX__)
  for (size_t i = 0; i < bytes / sizeof(__m256i); ++i) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target) + i,
                        _mm256_load_si256(static_cast<const __m256i*>(block) + i));
  }
#elif defined(__x86_64__)
  for (size_t i = 0; i < bytes / sizeof(__m128i); ++i) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(target) + i, _mm_load_si128(static_cast<const __m128i*>(block) + i));
  }
#else
  std::memcpy(target, block, bytes);
#endif
}

// All targets get a block before the next one is read: a target may be a source, and reads run beside writes.
template <class Type, class Op, size_t kSources, bool kStreams>
void Direct(const std::byte* const* sources, std::byte* const* targets, size_t target_count, size_t count) {
  using Element = typename Type::Element;
  constexpr size_t kBlock = kDirectBlockBytes / sizeof(Element);
  const Sources<Type, kSources> from(sources);
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    alignas(64) Element block[kBlock];
    for (size_t j = 0; j < kBlock; ++j) block[j] = Type::Round(Tree<Type, Op, kSources>(from.pointers, i + j));
    for (size_t t = 0; t < target_count; ++t) {
      if constexpr (kStreams) {
        StreamBlock(targets[t] + i * sizeof(Element), block, sizeof(block));
      } else {
        std::memcpy(targets[t] + i * sizeof(Element), block, sizeof(block));
      }
    }
  }
  for (; i < count; ++i) {
    const Element element = Type::Round(Tree<Type, Op, kSources>(from.pointers, i));
    for (size_t t = 0; t < target_count; ++t) {
      std::memcpy(targets[t] + i * sizeof(Element), &element, sizeof(element));
    }
  }
}

// For two sources and more.
template <class Type, class Op, size_t... kIndex>
constexpr void SetDirect(ReduceKernel& kernel, std::index_sequence<kIndex...>) {
  ((kernel.direct[kIndex + 1] = Direct<Type, Op, kIndex + 2, false>), ...);
  ((kernel.streamed[kIndex + 1] = Direct<Type, Op, kIndex + 2, true>), ...);
}

template <class Type, class Op>
constexpr ReduceKernel MakeKernel() {
  ReduceKernel kernel = {sizeof(typename Type::Value),
                         {Leaves<Type, Op, 1>, Leaves<Type, Op, 2>, Leaves<Type, Op, 3>, Leaves<Type, Op, 4>},
                         Join<Type, Op>,
                         nullptr,
                         {},
                         {}};
  if constexpr (!std::is_same_v<typename Type::Element, typename Type::Value>) kernel.finish = Finish<Type>;
  if constexpr (std::is_same_v<Op, Add> && std::is_floating_point_v<typename Type::Value>) {
    SetDirect<Type, Op>(kernel, std::make_index_sequence<kDirectSources - 1>());
  }
  return kernel;
}

template <class Type, class Op>
const ReduceKernel* Of() {
  static constexpr ReduceKernel kKernel = MakeKernel<Type, Op>();
  return &kKernel;
}

// For operations where signedness does not matter.
template <class Op>
const ReduceKernel* OfBits(ElementType element) {
  switch (ElementSize(element)) {
    case 1:
      return Of<Plain<uint8_t>, Op>();
    case 2:
      return Of<Plain<uint16_t>, Op>();
    case 4:
      return Of<Plain<uint32_t>, Op>();
    default:
      return Of<Plain<uint64_t>, Op>();
  }
}

template <class Op>
const ReduceKernel* OfFloat(ElementType element) {
  switch (element) {
    case ElementType::kF16:
      return Of<Float16, Op>();
    case ElementType::kBF16:
      return Of<Bfloat16, Op>();
    case ElementType::kF32:
      return Of<Plain<float>, Op>();
    default:
      return Of<Plain<double>, Op>();
  }
}

template <class Op>
const ReduceKernel* OfOrdered(ElementType element) {
  switch (element) {
    case ElementType::kI8:
      return Of<Plain<int8_t>, Op>();
    case ElementType::kI16:
      return Of<Plain<int16_t>, Op>();
    case ElementType::kI32:
      return Of<Plain<int32_t>, Op>();
    case ElementType::kI64:
      return Of<Plain<int64_t>, Op>();
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
    case ElementType::kF64:
      return OfFloat<Op>(element);
    default:
      return OfBits<Op>(element);
  }
}

const ReduceKernel* Find(ElementType element, ReduceKind reduce) {
  if (IsFloat8(element)) return nullptr;
  const bool is_float = element >= ElementType::kF16;
  switch (reduce) {
    case ReduceKind::kAdd:
      if (element == ElementType::kBool) return nullptr;
      return is_float ? OfFloat<Add>(element) : OfBits<Add>(element);
    case ReduceKind::kMul:
      if (element == ElementType::kBool) return nullptr;
      return is_float ? OfFloat<Mul>(element) : OfBits<Mul>(element);
    case ReduceKind::kMax:
      return OfOrdered<Max>(element);
    case ReduceKind::kMin:
      return OfOrdered<Min>(element);
    case ReduceKind::kAnd:
      return is_float ? nullptr : OfBits<And>(element);
    case ReduceKind::kOr:
      return is_float ? nullptr : OfBits<Or>(element);
  }
  return nullptr;
}

}  // namespace
}  // namespace sgd::comm
