// Reductions of 1 to 17 operands, of all types, against the tree evaluated element by element: the same bits however
// rows lie in memory, whichever rank reduces, and wherever ranks are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "rank_threads.h"
#include "reference_collective.h"
#include "runtime/comm/kernels/reduce_rows.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr uint32_t kMostSources = 17;

bool IsFloat(ElementType element) { return element >= ElementType::kF16; }

// Values of many magnitudes and both signs, so that every order has bits of its own.
std::vector<std::byte> Operand(ElementType element, uint64_t count, uint32_t position) {
  std::mt19937 random(1000 * static_cast<uint32_t>(element) + position);
  std::uniform_real_distribution<double> mantissa(-1, 1), exponent(-6, 6);
  const uint32_t size = ElementSize(element);
  std::vector<std::byte> bytes(count * size);
  for (uint64_t i = 0; i < count; ++i) {
    if (IsFloat(element)) {
      StoreElement(element, std::ldexp(mantissa(random), static_cast<int>(exponent(random))), bytes.data() + i * size);
    } else {
      for (uint32_t b = 0; b < size; ++b) {
        bytes[i * size + b] = static_cast<std::byte>(element == ElementType::kBool ? random() & 1 : random());
      }
    }
  }
  return bytes;
}

template <class T>
T Apply(ReduceKind reduce, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (reduce == ReduceKind::kAnd) return a & b;
    if (reduce == ReduceKind::kOr) return a | b;
    if (reduce == ReduceKind::kAdd) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    if (reduce == ReduceKind::kMul) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    if (reduce == ReduceKind::kAdd) return a + b;
    if (reduce == ReduceKind::kMul) return a * b;
  }
  return reduce == ReduceKind::kMax ? std::max(a, b) : std::min(a, b);
}

template <class T>
T Tree(ReduceKind reduce, const std::vector<T>& values, size_t begin, size_t end) {
  if (end - begin == 1) return values[begin];
  size_t left = 1;
  while (2 * left < end - begin) left *= 2;
  return Apply(reduce, Tree(reduce, values, begin, begin + left), Tree(reduce, values, begin + left, end));
}

using Operands = std::vector<std::vector<std::byte>>;

template <class T>
void StoreTree(ReduceKind reduce, const Operands& operands, uint64_t i, std::byte* at) {
  std::vector<T> values(operands.size());
  for (size_t s = 0; s < operands.size(); ++s) std::memcpy(&values[s], operands[s].data() + i * sizeof(T), sizeof(T));
  const T value = Tree(reduce, values, 0, values.size());
  std::memcpy(at, &value, sizeof(T));
}

void StoreHalfTree(ElementType element, ReduceKind reduce, const Operands& operands, uint64_t i, std::byte* at) {
  std::vector<float> values;
  for (const auto& operand : operands)
    values.push_back(static_cast<float>(LoadElement(element, operand.data() + 2 * i)));
  StoreElement(element, Tree(reduce, values, 0, values.size()), at);
}

std::vector<std::byte> ByHand(ElementType element, ReduceKind reduce, const Operands& operands) {
  const uint32_t size = ElementSize(element);
  std::vector<std::byte> result(operands[0].size());
  for (uint64_t i = 0; i < result.size() / size; ++i) {
    std::byte* at = result.data() + i * size;
    switch (element) {
      case ElementType::kI8:
        StoreTree<int8_t>(reduce, operands, i, at);
        break;
      case ElementType::kI16:
        StoreTree<int16_t>(reduce, operands, i, at);
        break;
      case ElementType::kI32:
        StoreTree<int32_t>(reduce, operands, i, at);
        break;
      case ElementType::kI64:
        StoreTree<int64_t>(reduce, operands, i, at);
        break;
      case ElementType::kU16:
        StoreTree<uint16_t>(reduce, operands, i, at);
        break;
      case ElementType::kU32:
        StoreTree<uint32_t>(reduce, operands, i, at);
        break;
      case ElementType::kU64:
        StoreTree<uint64_t>(reduce, operands, i, at);
        break;
      case ElementType::kF32:
        StoreTree<float>(reduce, operands, i, at);
        break;
      case ElementType::kF64:
        StoreTree<double>(reduce, operands, i, at);
        break;
      case ElementType::kF16:
      case ElementType::kBF16:
        StoreHalfTree(element, reduce, operands, i, at);
        break;
      default:
        StoreTree<uint8_t>(reduce, operands, i, at);
    }
  }
  return result;
}

Operands OperandsOf(ElementType element, uint64_t count, uint32_t n) {
  Operands operands;
  for (uint32_t position = 0; position < n; ++position) operands.push_back(Operand(element, count, position));
  return operands;
}

// How ReduceRows is asked for the same elements.
struct Layout {
  const char* name;
  uint64_t rows, row_elements;
  bool streams = false, in_place = false;
};

std::vector<std::byte> Reduced(ElementType element, const ReduceKernel* kernel, Operands operands,
                               const Layout& layout) {
  const uint32_t size = ElementSize(element), n = static_cast<uint32_t>(operands.size());
  RowReduction reduction;
  reduction.kernel = kernel;
  reduction.element_size = size;
  reduction.rows = layout.rows;
  reduction.row_elements = layout.row_elements;
  reduction.source_row_stride = reduction.target_row_stride = layout.row_elements * size;
  reduction.streams = layout.streams;
  std::vector<std::byte> result(operands[0].size() + size);
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  for (auto& operand : operands) {
    sources.push_back(operand.data());
    if (layout.in_place) targets.push_back(operand.data());
  }
  // One element behind what the allocator aligns.
  if (!layout.in_place) targets.push_back(result.data() + size);
  ReduceScratch scratch(n);
  ReduceRows(reduction, sources, targets, scratch);
  if (!layout.in_place) return {result.begin() + size, result.end()};
  for (const auto& operand : operands) EXPECT_EQ(operand, operands[0]) << layout.name;
  return operands[0];
}

TEST(ReductionOrder, IsTheTreeForAllTypesAndLayouts) {
  constexpr uint64_t kElements = 3 * 1201;
  const Layout layouts[] = {{"one row", 1, kElements},        {"long rows", 3, 1201},
                            {"short rows", 1201, 3},          {"streamed", 1, kElements, true},
                            {"streamed rows", 3, 1201, true}, {"in place", 1, kElements, false, true}};
  for (int e = 0; e < 13; ++e) {
    for (int r = 0; r < 6; ++r) {
      const ElementType element = static_cast<ElementType>(e);
      const ReduceKind reduce = static_cast<ReduceKind>(r);
      const ReduceKernel* kernel = FindReduceKernel(element, reduce);
      if (kernel == nullptr) continue;
      for (uint32_t n = 2; n <= kMostSources; ++n) {
        const Operands operands = OperandsOf(element, kElements, n);
        const std::vector<std::byte> expected = ByHand(element, reduce, operands);
        for (const Layout& layout : layouts) {
          ASSERT_TRUE(Reduced(element, kernel, operands, layout) == expected)
              << n << " sources, " << ElementName(element) << " " << ReduceName(reduce) << ", " << layout.name;
        }
      }
    }
  }
}

// The rank-by-rank order that the tree replaced has other bits, so the test above can fail.
TEST(ReductionOrder, OrdersDiffer) {
  const Operands operands = OperandsOf(ElementType::kF32, 1000, 4);
  const std::vector<std::byte> tree = ByHand(ElementType::kF32, ReduceKind::kAdd, operands);
  std::vector<float> sums(1000), balanced(1000);
  for (const auto& operand : operands) {
    for (size_t i = 0; i < sums.size(); ++i) {
      float value;
      std::memcpy(&value, operand.data() + i * sizeof(float), sizeof(float));
      sums[i] += value;
    }
  }
  std::memcpy(balanced.data(), tree.data(), tree.size());
  EXPECT_NE(sums, balanced);
}

enum class Way { kWhole, kSplit, kThread };

absl::Status Run(Communicator& communicator, CollectiveHandle handle, Way way) {
  if (way == Way::kWhole) return communicator.Execute(handle, kTimeout);
  const absl::Status status = communicator.Start(handle, kTimeout);
  return status.ok() ? communicator.Wait(handle, kTimeout) : status;
}

constexpr uint64_t kSourceBytes = 1 << 18, kWindow = 2 * kSourceBytes;

// An all-reduce and a reduce-scatter over all ranks of the mesh, whose positions are those of `axes`. Every rank holds
// the operand of its position.
void ExpectTree(const Mesh& mesh, const std::vector<AxisRef>& axes, ElementType element, uint64_t part, Way way) {
  const uint32_t n = static_cast<uint32_t>(mesh.ranks()), size = ElementSize(element);
  const uint64_t bytes = part * n * size;
  ASSERT_LE(bytes, kSourceBytes);
  const Operands operands = OperandsOf(element, part * n, n);
  const std::vector<std::byte> expected = ByHand(element, ReduceKind::kAdd, operands);
  RunAsThreads(n, kWindow, [&](SharedMemoryCommunicator& communicator) {
    if (way == Way::kThread) ASSERT_TRUE(communicator.StartThread(/*has_own_core=*/false).ok());
    const uint32_t position = GroupOf(mesh, axes, communicator.control().rank())->index;
    CollectiveOperand operand;
    operand.element = element;
    operand.count = part * n;
    operand.inner = part;
    CollectiveSpec spec;
    spec.axes = axes;
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter}) {
      spec.kind = kind;
      operand.target_offset = kind == CollectiveKind::kReduceScatter ? kSourceBytes : 0;
      spec.operands = {operand};
      std::memcpy(communicator.window(), operands[position].data(), bytes);
      const auto handle = communicator.Prepare(mesh, spec);
      ASSERT_TRUE(handle.ok()) << handle.status();
      ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
      ASSERT_TRUE(Run(communicator, *handle, way).ok());
      const bool scatters = kind == CollectiveKind::kReduceScatter;
      const uint64_t result_bytes = scatters ? bytes / n : bytes;
      EXPECT_EQ(std::memcmp(communicator.window() + operand.target_offset,
                            expected.data() + (scatters ? position * result_bytes : 0), result_bytes),
                0)
          << CollectiveName(kind) << " of " << bytes << " bytes of " << ElementName(element) << " over " << n
          << " ranks";
      ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
    }
  });
}

// Small ones are staged; of large ones every rank reduces a part.
TEST(ReductionOrder, IsTheTreeBetweenRanks) {
  for (uint32_t n = 1; n <= kMostSources; ++n) {
    for (const ElementType element : {ElementType::kF32, ElementType::kBF16}) {
      for (const uint64_t part : {2, 1030}) ExpectTree({{n}}, {{0, 1, n}}, element, part, Way::kWhole);
    }
  }
}

TEST(ReductionOrder, IsTheSameInTheBackground) {
  for (const uint32_t n : {2u, 3u, 5u, 6u}) {
    for (const Way way : {Way::kSplit, Way::kThread}) ExpectTree({{n}}, {{0, 1, n}}, ElementType::kF32, 1030, way);
  }
}

// Positions decide, not ranks: the axes' order permutes the ranks.
TEST(ReductionOrder, IsTheSameForEveryPlacementOfRanks) {
  const std::vector<std::vector<AxisRef>> placements = {{{0, 1, 2}, {1, 1, 3}}, {{1, 1, 3}, {0, 1, 2}}};
  for (const auto& axes : placements) ExpectTree({{2, 3}}, axes, ElementType::kF32, 1030, Way::kWhole);
  const std::vector<std::vector<AxisRef>> sub_axes = {
      {{0, 1, 8}}, {{0, 4, 2}, {0, 1, 4}}, {{0, 2, 2}, {0, 4, 2}, {0, 1, 2}}};
  for (const auto& axes : sub_axes) ExpectTree({{8}}, axes, ElementType::kF32, 1030, Way::kWhole);
}

}  // namespace
}  // namespace sgd::comm
