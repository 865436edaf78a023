// Blocks of B are packed and widened once and used for a block of rows; sums stay in a block of
// accumulators, so the order of additions is that of k, whatever the blocking.
#include "targets/cpu/device/matmul_loops.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace sgd::cpu {
namespace {

using artifact::ElementType;
using artifact::Epilogue;

constexpr uint64_t kRows = 32;
constexpr uint64_t kColumns = 32;
constexpr uint64_t kDepth = 64;

struct BFloat16 {
  uint16_t bits;
};

// Widening to the type that sums are taken in, and rounding back to nearest even.
template <typename T>
struct Element {
  using Sum = T;
  static Sum Load(T value) { return value; }
  static T Store(Sum value) { return value; }
};
template <>
struct Element<_Float16> {
  using Sum = float;
  static float Load(_Float16 value) { return static_cast<float>(value); }
  static _Float16 Store(float value) { return static_cast<_Float16>(value); }
};
template <>
struct Element<BFloat16> {
  using Sum = float;
  static float Load(BFloat16 value) {
    const uint32_t bits = uint32_t{value.bits} << 16;
    float result;
    std::memcpy(&result, &bits, sizeof(result));
    return result;
  }
  static BFloat16 Store(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if (value != value) return {static_cast<uint16_t>(bits >> 16 | 0x40)};
    return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  }
};

template <typename T>
class TileLoops {
 public:
  using Sum = typename Element<T>::Sum;

  TileLoops(const MatmulProblem& problem, const Tile& tile)
      : problem_(problem),
        tile_(tile),
        a_(reinterpret_cast<const T*>(tile.a)),
        b_(reinterpret_cast<const T*>(tile.b)),
        c_(reinterpret_cast<T*>(tile.c)),
        bias_(reinterpret_cast<const T*>(tile.bias)) {}

  void Run() {
    for (uint64_t column = 0; column < tile_.n; column += kColumns) {
      for (uint64_t row = 0; row < tile_.m; row += kRows) Block(row, column);
    }
  }

 private:
  void Block(uint64_t row, uint64_t column) {
    const uint64_t rows = std::min(kRows, tile_.m - row);
    std::memset(sums_, 0, sizeof(sums_));
    for (uint64_t depth = 0; depth < problem_.k; depth += kDepth) {
      const uint64_t count = std::min(kDepth, problem_.k - depth);
      Pack(depth, count, column);
      for (uint64_t i = 0; i < rows; ++i) {
        const T* a =
            a_ + static_cast<int64_t>(row + i) * problem_.a.rows + static_cast<int64_t>(depth) * problem_.a.columns;
        AddRow(sums_[i], a, count);
      }
    }
    for (uint64_t i = 0; i < rows; ++i) StoreRow(row + i, column, sums_[i]);
  }

  // kDepth x kColumns elements of B, widened; missing columns are zero.
  void Pack(uint64_t depth, uint64_t count, uint64_t column) {
    const uint64_t columns = std::min(kColumns, tile_.n - column);
    if (columns < kColumns) std::memset(packed_, 0, sizeof(packed_));
    for (uint64_t d = 0; d < count; ++d) {
      const T* b =
          b_ + static_cast<int64_t>(depth + d) * problem_.b.rows + static_cast<int64_t>(column) * problem_.b.columns;
      for (uint64_t j = 0; j < columns; ++j)
        packed_[d][j] = Element<T>::Load(b[static_cast<int64_t>(j) * problem_.b.columns]);
    }
  }

  void AddRow(Sum* sums, const T* a, uint64_t count) const {
    Sum row[kColumns];
    std::memcpy(row, sums, sizeof(row));
    for (uint64_t d = 0; d < count; ++d) {
      const Sum factor = Element<T>::Load(a[static_cast<int64_t>(d) * problem_.a.columns]);
      for (uint64_t j = 0; j < kColumns; ++j) row[j] = Add(row[j], Multiply(factor, packed_[d][j]));
    }
    std::memcpy(sums, row, sizeof(row));
  }

  void StoreRow(uint64_t row, uint64_t column, const Sum* sums) {
    const uint64_t columns = std::min(kColumns, tile_.n - column);
    T* c = c_ + static_cast<int64_t>(row) * problem_.c.rows + static_cast<int64_t>(column) * problem_.c.columns;
    for (uint64_t j = 0; j < columns; ++j) {
      T& target = c[static_cast<int64_t>(j) * problem_.c.columns];
      Sum value = sums[j];
      if (bias_ != nullptr) value = Add(value, Element<T>::Load(bias_[problem_.bias_per_row ? row : column + j]));
      if (problem_.epilogue == Epilogue::Accumulate) value = Add(Element<T>::Load(target), value);
      if (problem_.epilogue == Epilogue::BiasRelu && value < Sum{0}) value = Sum{0};
      target = Element<T>::Store(value);
    }
  }

  static Sum Add(Sum a, Sum b) {
    if constexpr (std::is_integral_v<Sum>) {
      return static_cast<Sum>(static_cast<Wide>(a) + static_cast<Wide>(b));
    } else {
      return a + b;
    }
  }
  static Sum Multiply(Sum a, Sum b) {
    if constexpr (std::is_integral_v<Sum>) {
      return static_cast<Sum>(static_cast<Wide>(a) * static_cast<Wide>(b));
    } else {
      return a * b;
    }
  }
  // Unsigned and not promoted to int, so that integers wrap around.
  using Wide = std::conditional_t<sizeof(Sum) <= 4, uint32_t, uint64_t>;

  const MatmulProblem& problem_;
  const Tile& tile_;
  const T* a_;
  const T* b_;
  T* c_;
  const T* bias_;
  Sum sums_[kRows][kColumns];
  Sum packed_[kDepth][kColumns];
};

template <typename T>
void RunLoops(const MatmulProblem& problem, const Tile& tile) {
  TileLoops<T>(problem, tile).Run();
}

}  // namespace

TileFunction LoopsFor(ElementType element) {
  switch (element) {
    case ElementType::Bool:
      return nullptr;
    case ElementType::I8:
      return RunLoops<int8_t>;
    case ElementType::I16:
      return RunLoops<int16_t>;
    case ElementType::I32:
      return RunLoops<int32_t>;
    case ElementType::I64:
      return RunLoops<int64_t>;
    case ElementType::U8:
      return RunLoops<uint8_t>;
    case ElementType::U16:
      return RunLoops<uint16_t>;
    case ElementType::U32:
      return RunLoops<uint32_t>;
    case ElementType::U64:
      return RunLoops<uint64_t>;
    case ElementType::F16:
      return RunLoops<_Float16>;
    case ElementType::BF16:
      return RunLoops<BFloat16>;
    case ElementType::F32:
      return RunLoops<float>;
    case ElementType::F64:
      return RunLoops<double>;
  }
  return nullptr;
}

void ApplyBias(const MatmulProblem& problem, const Tile& tile) {
  const float* bias = reinterpret_cast<const float*>(tile.bias);
  for (uint64_t i = 0; i < tile.m; ++i) {
    float* c = reinterpret_cast<float*>(tile.c) + static_cast<int64_t>(i) * problem.c.rows;
    for (uint64_t j = 0; j < tile.n; ++j) {
      c[static_cast<int64_t>(j) * problem.c.columns] += bias[problem.bias_per_row ? i : j];
    }
  }
}

void ApplyRelu(const MatmulProblem& problem, const Tile& tile) {
  for (uint64_t i = 0; i < tile.m; ++i) {
    float* c = reinterpret_cast<float*>(tile.c) + static_cast<int64_t>(i) * problem.c.rows;
    for (uint64_t j = 0; j < tile.n; ++j) {
      float& value = c[static_cast<int64_t>(j) * problem.c.columns];
      value = value < 0.0f ? 0.0f : value;
    }
  }
}

}  // namespace sgd::cpu
