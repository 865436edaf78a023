// Whole windows are given, so that a stray write is seen too.
#include "conformance_cases.h"

#include <gtest/gtest.h>

#include "reference_collective.h"
#include "runtime/comm/collectives/staged_bytes.h"
#include "runtime/comm/kernels/reduce_kernels.h"

namespace sgd::comm {
namespace {

double ValueAt(ElementType element, ReduceKind reduce, uint64_t rank, uint64_t i) {
  if (element == ElementType::kBool) return (rank + i) % 3 == 0;
  if (reduce == ReduceKind::kMul) return 1 + (rank + 3 * i) % 2;
  const double integer = static_cast<double>((rank * 7 + i * 5) % 23);
  return element >= ElementType::kF16 ? integer * 0.37 - 3 : integer;
}

// Places operands one after the other, aligned to no more than their elements, and fills the
// sources.
class CaseBuilder {
 public:
  CaseBuilder(const Shape& shape, CollectiveKind kind, ReduceKind reduce) : shape_(shape) {
    case_.spec.kind = kind;
    case_.spec.reduce = reduce;
    case_.spec.axes = shape.axes;
    case_.spec.from_axes = shape.from_axes;
    case_.spec.to_axes = shape.to_axes;
    case_.spec.location = "conformance";
    case_.before.resize(shape.mesh.ranks());
  }

  void Add(CollectiveOperand operand, bool in_place = false) {
    const uint64_t size = ElementSize(operand.element);
    const OperandCounts counts = *CheckOperand(case_.spec.kind, operand, AxesSize(case_.spec.axes));
    end_ = (end_ + size - 1) / size * size + size;
    operand.source_offset = end_;
    end_ += counts.source * size;
    operand.target_offset = in_place ? operand.source_offset : end_;
    if (!in_place) end_ += counts.target * size;
    ASSERT_LE(end_, kConformanceWindowBytes);
    for (uint64_t rank = 0; rank < case_.before.size(); ++rank) {
      case_.before[rank].resize(end_, std::byte{0xa5});
      for (uint64_t i = 0; i < counts.source; ++i) {
        StoreElement(operand.element, ValueAt(operand.element, case_.spec.reduce, rank, i),
                     case_.before[rank].data() + operand.source_offset + i * size);
      }
    }
    case_.spec.operands.push_back(operand);
  }

  Case Build() {
    // For communicators that pack; behind what is compared.
    case_.spec.staging_offset = (end_ + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
    case_.spec.staging_bytes = StagedBytes(shape_.mesh, case_.spec);
    EXPECT_LE(case_.spec.staging_offset + case_.spec.staging_bytes, kConformanceWindowBytes);
    case_.after = case_.before;
    RunReference(shape_.mesh, case_.spec, case_.after);
    return std::move(case_);
  }

 private:
  const Shape& shape_;
  Case case_;
  uint64_t end_ = 0;
};

CollectiveOperand Rows(CollectiveKind kind, ElementType element, uint64_t n, uint64_t outer, uint64_t inner) {
  CollectiveOperand operand;
  operand.element = element;
  operand.outer = outer;
  operand.inner = inner;
  operand.count = outer * inner * (kind == CollectiveKind::kReduceScatter ? n : 1);
  return operand;
}

CollectiveOperand Block(ElementType element, std::vector<uint64_t> dims, uint32_t split, uint32_t concat) {
  CollectiveOperand operand;
  operand.element = element;
  operand.count = 1;
  for (uint64_t dim : dims) operand.count *= dim;
  operand.dims = std::move(dims);
  operand.split = split;
  operand.concat = concat;
  return operand;
}

CollectiveOperand Tiles(ElementType element, uint64_t outer, TileRange range, uint64_t inner) {
  CollectiveOperand operand;
  operand.element = element;
  operand.outer = outer;
  operand.inner = inner;
  operand.count = outer * range.tile * inner;
  operand.range = range;
  return operand;
}

// Halos, halos wider than a tile, a shift, strides, another number of tiles, a whole dimension, tiles without
// elements and nothing at all.
std::vector<CollectiveOperand> Ranges(ElementType element, uint64_t n) {
  const int64_t tiles = static_cast<int64_t>(n);
  return {Tiles(element, 3, {.size = 5 * n - 2, .tile = 5, .length = 8, .scale = 5, .offset = -1}, 7),
          Tiles(element, 1, {.size = 2 * n, .tile = 2, .length = 12, .scale = 2, .offset = -5}, 129),
          Tiles(element, 2, {.size = 3 * n, .tile = 3, .length = 3, .scale = 3, .offset = 2 * tiles}, 1),
          Tiles(element, 3, {.size = 7 * n - 1, .tile = 7, .length = 3, .scale = 6, .offset = 1, .step = 2}, 5),
          Tiles(element, 1, {.size = 4 * n, .tile = 4, .length = 5, .scale = -9, .offset = 7 * tiles, .divisor = 2}, 3),
          Tiles(element, 403, {.size = 2 * n - 1, .tile = 2, .length = 2 * n + 1}, 1),
          Tiles(element, 2, {.size = 1, .tile = 1, .length = 2, .scale = 1, .offset = -1}, 4),
          Tiles(element, 2, {.size = 0, .tile = 0, .length = 2, .scale = 1}, 4),
          Tiles(element, 2, {.size = n, .tile = 1, .length = 0, .scale = 1}, 4)};
}

std::vector<CollectiveOperand> OperandsOf(CollectiveKind kind, ElementType element, uint64_t n) {
  if (kind == CollectiveKind::kGatherRange) return Ranges(element, n);
  if (kind == CollectiveKind::kAllToAll) {
    return {Block(element, {n}, 0, 0),
            Block(element, {3, 2 * n, 5}, 1, 0),
            Block(element, {3, 2 * n, 5}, 1, 2),
            Block(element, {3, 2 * n, 5}, 1, 1),
            Block(element, {7, 4 * n, 57}, 1, 2),
            Block(element, {5, 7, 11 * n, 13}, 2, 0),
            Block(element, {n, 9, 71}, 0, 1),
            Block(element, {2, 0, n}, 2, 0)};
  }
  return {Rows(kind, element, n, 1, 1),    Rows(kind, element, n, 3, 7),    Rows(kind, element, n, 403, 3),
          Rows(kind, element, n, 3, 1201), Rows(kind, element, n, 1, 5003), Rows(kind, element, n, 0, 5)};
}

bool Reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
}

}  // namespace

std::vector<Shape> AllShapes() {
  return {
      {"1", {{1}}, {{0, 1, 1}}, {{0, 1, 1}}},
      {"2", {{2}}, {{0, 1, 2}}, {{0, 1, 2}}},
      {"3", {{3}}, {{0, 1, 3}}, {{0, 1, 3}}},
      {"4", {{4}}, {{0, 1, 4}}, {{0, 2, 2}, {0, 1, 2}}},
      {"8", {{8}}, {{0, 1, 8}}, {{0, 2, 4}, {0, 1, 2}}},
      {"2x2_major", {{2, 2}}, {{0, 1, 2}}, {{0, 1, 2}}},
      {"2x2_minor", {{2, 2}}, {{1, 1, 2}}, {{1, 1, 2}}},
      {"2x2_swapped", {{2, 2}}, {{1, 1, 2}, {0, 1, 2}}, {{0, 1, 2}, {1, 1, 2}}},
      {"2x4_major", {{2, 4}}, {{0, 1, 2}}, {{0, 1, 2}}, {{1, 1, 4}}},
      {"2x4_minor", {{2, 4}}, {{1, 1, 4}}, {{1, 2, 2}, {1, 1, 2}}},
      {"8_inner_sub", {{8}}, {{0, 2, 2}}, {{0, 2, 2}}},
      {"8_outer_and_last_sub", {{8}}, {{0, 4, 2}, {0, 1, 2}}, {{0, 1, 2}, {0, 4, 2}}},
      {"2x4_both_sub", {{2, 4}}, {{1, 1, 2}, {0, 1, 2}}, {{0, 1, 2}, {1, 1, 2}}, {{1, 1, 4}, {0, 1, 2}}},
  };
}

std::vector<Case> AllCases(const Shape& shape, CollectiveKind kind) {
  std::vector<Case> cases;
  const uint64_t n = AxesSize(shape.axes);
  for (int r = 0; r < (Reduces(kind) ? 6 : 1); ++r) {
    const ReduceKind reduce = static_cast<ReduceKind>(r);
    CaseBuilder bucket(shape, kind, reduce);
    for (int e = 0; e < 13; ++e) {
      const ElementType element = static_cast<ElementType>(e);
      if (Reduces(kind) && FindReduceKernel(element, reduce) == nullptr) continue;
      const std::vector<CollectiveOperand> operands = OperandsOf(kind, element, n);
      for (size_t i = 0; i < operands.size(); ++i) {
        // Every shape with the first reduction, one of them in turn with the others.
        if (r > 0 && i != static_cast<size_t>(r + e) % operands.size()) continue;
        const CollectiveOperand& operand = operands[i];
        CaseBuilder builder(shape, kind, reduce);
        builder.Add(operand);
        if (kind == CollectiveKind::kAllReduce) builder.Add(operand, /*in_place=*/true);
        cases.push_back(builder.Build());
      }
      bucket.Add(operands[e % operands.size()]);
    }
    cases.push_back(bucket.Build());
  }
  return cases;
}

}  // namespace sgd::comm
