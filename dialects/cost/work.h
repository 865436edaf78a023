// The cost of an op, independent of the machine: operations by kind and element type, and bytes. No IR.
#ifndef SGD_DIALECTS_COST_WORK_H
#define SGD_DIALECTS_COST_WORK_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "llvm/ADT/Hashing.h"

namespace mlir::sgd {

/// Kinds of operations. A device has a rate for each.
enum class OperationKind : uint8_t {
  Matmul,          ///< multiplications and additions of matmuls and convolutions
  Attention,       ///< the same of fused attention
  Vector,          ///< of elements: additions, comparisons, roundings
  Division,        ///< quotients, remainders and square roots of floats
  Transcendental,  ///< exponentials and the like
  Packing,         ///< of the windows of convolutions: elements that are copied before they are multiplied
};
inline constexpr std::string_view kOperationNames[] = {"matmul",   "attention",      "vector",
                                                       "division", "transcendental", "packing"};
inline constexpr size_t kNumOperationKinds = std::size(kOperationNames);

/// Element types by their size.
enum class Precision : uint8_t {
  Double,   ///< 64 bits
  Single,   ///< 32 bits
  Half,     ///< 16 bits: f16, bf16
  Quarter,  ///< 8 bits and less
};
inline constexpr std::string_view kPrecisionNames[] = {"double", "single", "half", "quarter"};
inline constexpr size_t kNumPrecisions = std::size(kPrecisionNames);

inline std::optional<OperationKind> findOperationKind(std::string_view name) {
  for (size_t kind = 0; kind < kNumOperationKinds; ++kind)
    if (kOperationNames[kind] == name) return OperationKind(kind);
  return std::nullopt;
}
inline std::optional<Precision> findPrecision(std::string_view name) {
  for (size_t precision = 0; precision < kNumPrecisions; ++precision)
    if (kPrecisionNames[precision] == name) return Precision(precision);
  return std::nullopt;
}

/// The cost of one execution. The sum of two is the cost of one op after the other.
class Work {
 public:
  double readBytes = 0, writtenBytes = 0;

  bool operator==(const Work&) const = default;

  /// A copy of `bytes`: read once, written once.
  static Work ofCopy(double bytes) {
    Work work;
    work.readBytes = work.writtenBytes = bytes;
    return work;
  }

  Work& add(OperationKind kind, Precision precision, double count) {
    counts[getIndex(kind, precision)] += count;
    return *this;
  }
  double get(OperationKind kind, Precision precision) const { return counts[getIndex(kind, precision)]; }

  double getBytes() const { return readBytes + writtenBytes; }
  /// All operations, for reports. A transcendental one counts as ten, packing is none.
  double getFlops() const {
    double flops = 0;
    for (size_t index = 0; index < counts.size(); ++index)
      flops += counts[index] * getFlops(OperationKind(index / kNumPrecisions));
    return flops;
  }

  Work& operator+=(const Work& other) {
    addOperations(other, 1);
    readBytes += other.readBytes, writtenBytes += other.writtenBytes;
    return *this;
  }
  /// Adds the operations of `times` executions of `other`, without its bytes.
  Work& addOperations(const Work& other, double times) {
    for (size_t index = 0; index < counts.size(); ++index) counts[index] += times * other.counts[index];
    return *this;
  }

 private:
  static double getFlops(OperationKind kind) {
    switch (kind) {
      case OperationKind::Transcendental:
        return 10;
      case OperationKind::Packing:
        return 0;
      default:
        return 1;
    }
  }
  static size_t getIndex(OperationKind kind, Precision precision) {
    return static_cast<size_t>(kind) * kNumPrecisions + static_cast<size_t>(precision);
  }

  friend llvm::hash_code hash_value(const Work& work) {
    auto code = llvm::hash_combine(static_cast<int64_t>(work.readBytes), static_cast<int64_t>(work.writtenBytes));
    for (double count : work.counts) code = llvm::hash_combine(code, static_cast<int64_t>(count));
    return code;
  }

  std::array<double, kNumOperationKinds * kNumPrecisions> counts{};
};

}  // namespace mlir::sgd

#endif
