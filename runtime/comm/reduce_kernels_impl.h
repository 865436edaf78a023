// The loops behind reduce_kernels.h, written for the vectoriser; compiled once per instruction set,
// hence all in an unnamed namespace and without headers that could leave inline functions behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/comm/reduce_kernels.h"

namespace sgd::comm {
namespace {

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

template <class Type, class Op>
void Start(const void* a, const void* b, void* accumulator, size_t count) {
  const auto* __restrict x = static_cast<const typename Type::Element*>(a);
  const auto* __restrict y = static_cast<const typename Type::Element*>(b);
  auto* __restrict out = static_cast<typename Type::Value*>(accumulator);
  for (size_t i = 0; i < count; ++i) out[i] = Op::Apply(Type::Load(x[i]), Type::Load(y[i]));
}

template <class Type, class Op>
void Accumulate(void* accumulator, const void* source, size_t count) {
  auto* __restrict out = static_cast<typename Type::Value*>(accumulator);
  const auto* __restrict x = static_cast<const typename Type::Element*>(source);
  for (size_t i = 0; i < count; ++i) out[i] = Op::Apply(out[i], Type::Load(x[i]));
}

template <class Type>
void Finish(const void* accumulator, void* result, size_t count) {
  const auto* __restrict in = static_cast<const typename Type::Value*>(accumulator);
  auto* __restrict out = static_cast<typename Type::Element*>(result);
  for (size_t i = 0; i < count; ++i) out[i] = Type::Round(in[i]);
}

template <class T, class Op>
const ReduceKernel* OfPlain() {
  static constexpr ReduceKernel kKernel = {sizeof(T), Start<Plain<T>, Op>, Accumulate<Plain<T>, Op>, nullptr};
  return &kKernel;
}

template <class Type, class Op>
const ReduceKernel* OfHalf() {
  static constexpr ReduceKernel kKernel = {sizeof(float), Start<Type, Op>, Accumulate<Type, Op>, Finish<Type>};
  return &kKernel;
}

// For operations where signedness does not matter.
template <class Op>
const ReduceKernel* OfBits(ElementType element) {
  switch (ElementSize(element)) {
    case 1:
      return OfPlain<uint8_t, Op>();
    case 2:
      return OfPlain<uint16_t, Op>();
    case 4:
      return OfPlain<uint32_t, Op>();
    default:
      return OfPlain<uint64_t, Op>();
  }
}

template <class Op>
const ReduceKernel* OfFloat(ElementType element) {
  switch (element) {
    case ElementType::kF16:
      return OfHalf<Float16, Op>();
    case ElementType::kBF16:
      return OfHalf<Bfloat16, Op>();
    case ElementType::kF32:
      return OfPlain<float, Op>();
    default:
      return OfPlain<double, Op>();
  }
}

template <class Op>
const ReduceKernel* OfOrdered(ElementType element) {
  switch (element) {
    case ElementType::kI8:
      return OfPlain<int8_t, Op>();
    case ElementType::kI16:
      return OfPlain<int16_t, Op>();
    case ElementType::kI32:
      return OfPlain<int32_t, Op>();
    case ElementType::kI64:
      return OfPlain<int64_t, Op>();
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
