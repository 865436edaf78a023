// Lowers matmuls of ragged groups, chlo.ragged_dot: rows along the ragged dimension belong to group after group, as
// many as `group_sizes` says; behind the last group they belong to none. In the three modes of
// jax.lax.ragged_dot_general:
//   the ragged dimension is a free one of lhs: row i is multiplied with the rhs of its group
//   it is contracted: one matmul for each group, along a new first dimension
//   it is a batch dimension: groups do not matter
// Operands that are matrices, as most programs have them, become sgd.grouped_dot. Tensors of more dimensions, and group
// sizes for each element of a batch, are computed as JAX does on CPUs: with a dimension for the group, along which all
// but a row's own are zero. Where rows, contracted elements or columns are sharded, ranks send no more than
// for the reduction of a plain matmul.
#include "dialects/sgd/grouped_dot.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// An operand: its dimensions by role, and how far group sizes follow them.
struct RaggedOperand {
  Value value;
  int64_t raggedDim;
  SmallVector<int64_t> prefix;  // dimensions for each of whose elements there may be group sizes of their own
};

class RaggedDot {
 public:
  explicit RaggedDot(OpLowering& l)
      : l(l), op(cast<chlo::RaggedDotOp>(l.op)), dims(op.getRaggedDotDimensionNumbers()) {}

  LogicalResult run();

 private:
  LogicalResult verify();
  SmallVector<int64_t> getFreeDims() const;
  /// Dimensions of `batch`, then those of `others` before `raggedDim`.
  static SmallVector<int64_t> getPrefix(ArrayRef<int64_t> batch, ArrayRef<int64_t> others, int64_t raggedDim) {
    SmallVector<int64_t> prefix(batch);
    llvm::append_range(prefix, others.take_while([&](int64_t dim) { return dim != raggedDim; }));
    return prefix;
  }
  /// [groups, shape of the operand]: its elements where they belong to the group, else zero.
  Value expand(const RaggedOperand& operand);
  /// Group sizes as [groups, dimensions of `operand.prefix` in its order...].
  Value arrangeSizes(Value sizes, const RaggedOperand& operand);
  static SmallVector<int64_t> behindGroups(ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
  }
  bool isOfMatrices(bool isContracted);
  LogicalResult lowerMatrices(bool isContracted);
  /// The number of each row's group, and of all groups; rows behind the last group have the number behind them.
  std::pair<Value, Value> numberGroups(int64_t rows);
  Value permute(Value value, ArrayRef<int64_t> permutation);
  bool allowsTf32();
  LogicalResult finishDot(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                          ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsContracting);

  OpLowering& l;
  chlo::RaggedDotOp op;
  chlo::RaggedDotDimensionNumbersAttr dims;
};

SmallVector<int64_t> RaggedDot::getFreeDims() const {
  return llvm::filter_to_vector(llvm::seq<int64_t>(0, l.getOperandType(0).getRank()), [&](int64_t dim) {
    return !llvm::is_contained(dims.getLhsBatching(), dim) && !llvm::is_contained(dims.getLhsContracting(), dim);
  });
}

LogicalResult RaggedDot::verify() {
  int64_t lhsRank = l.getOperandType(0).getRank(), rhsRank = l.getOperandType(1).getRank();
  RankedTensorType sizes = l.getOperandType(2);
  auto areDims = [](ArrayRef<int64_t> list, int64_t rank) {
    return llvm::all_of(list, [&](int64_t dim) { return dim >= 0 && dim < rank; });
  };
  if (!areDims(dims.getLhsBatching(), lhsRank) || !areDims(dims.getLhsContracting(), lhsRank) ||
      !areDims(dims.getLhsRagged(), lhsRank) || !areDims(dims.getRhsBatching(), rhsRank) ||
      !areDims(dims.getRhsContracting(), rhsRank) || !areDims(dims.getRhsGroup(), rhsRank) ||
      dims.getLhsBatching().size() != dims.getRhsBatching().size() ||
      dims.getLhsContracting().size() != dims.getRhsContracting().size() || dims.getLhsRagged().size() != 1)
    return l.error() << "has dimension numbers that are not those of its operands, or not one ragged dimension";
  bool isFree = llvm::is_contained(getFreeDims(), dims.getLhsRagged()[0]);
  if (dims.getRhsGroup().size() != (isFree ? 1 : 0))
    return l.error() << "needs " << (isFree ? "one group dimension" : "no group dimension") << " of the rhs, has "
                     << dims.getRhsGroup().size();
  if (!isa<IntegerType>(sizes.getElementType()) || sizes.getRank() < 1)
    return l.error() << "needs integer group sizes, has " << sizes;
  if (isFree && l.getOperandType(1).getDimSize(dims.getRhsGroup()[0]) != sizes.getShape().back())
    return l.error() << "has " << sizes.getShape().back() << " group sizes for "
                     << l.getOperandType(1).getDimSize(dims.getRhsGroup()[0]) << " groups of the rhs";
  return success();
}

Value RaggedDot::arrangeSizes(Value sizes, const RaggedOperand& operand) {
  RankedTensorType type = tensorType(sizes);
  int64_t rank = type.getRank();
  SmallVector<int64_t> order{rank - 1};
  if (rank > 1) {
    SmallVector<std::pair<int64_t, int64_t>> byDim;
    for (auto [position, dim] : llvm::enumerate(operand.prefix)) byDim.push_back({dim, position});
    llvm::sort(byDim);
    for (auto [dim, position] : byDim) order.push_back(position);
  }
  if (rank == 1) return sizes;
  SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int64_t dim) { return type.getDimSize(dim); });
  return l.create<TransposeOp>(type.clone(shape), sizes, order);
}

Value RaggedDot::expand(const RaggedOperand& operand) {
  RankedTensorType type = tensorType(operand.value), sizesType = l.getOperandType(2);
  int64_t groups = sizesType.getShape().back();
  Value sizes = l.operands[2];
  Value ends = l.create<CumulativeOp>(sizesType, sizes, ReduceKind::Add, sizesType.getRank() - 1, /*reverse=*/false);
  Value starts = l.create<arith::SubIOp>(ends, sizes);
  // The mask has only the dimensions that it depends on: groups, prefix, ragged.
  SmallVector<int64_t> own, maskShape{groups};
  if (sizesType.getRank() > 1) own = operand.prefix;
  llvm::sort(own);
  SmallVector<int64_t> sizesDims{0}, maskDims(own);
  maskDims.push_back(operand.raggedDim);
  llvm::sort(maskDims);
  for (int64_t dim : maskDims) maskShape.push_back(type.getDimSize(dim));
  for (int64_t dim : own) sizesDims.push_back(1 + (llvm::find(maskDims, dim) - maskDims.begin()));
  auto numbers = RankedTensorType::get(maskShape, sizesType.getElementType());
  auto everywhere = [&](Value value) {
    return l.create<BroadcastInDimOp>(numbers, arrangeSizes(value, operand), sizesDims);
  };
  Value row = l.create<IotaOp>(numbers, 1 + (llvm::find(maskDims, operand.raggedDim) - maskDims.begin()));
  Value isIn = l.create<arith::AndIOp>(l.create<arith::CmpIOp>(arith::CmpIPredicate::sle, everywhere(starts), row),
                                       l.create<arith::CmpIOp>(arith::CmpIPredicate::slt, row, everywhere(ends)));
  SmallVector<int64_t> shape{groups}, at{0};
  llvm::append_range(shape, type.getShape());
  llvm::append_range(at, behindGroups(maskDims));
  RankedTensorType expanded = type.clone(shape);
  Value mask = l.create<BroadcastInDimOp>(expanded.clone(l.builder.getI1Type()), isIn, at);
  Value repeated = l.create<BroadcastInDimOp>(expanded, operand.value,
                                              behindGroups(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))));
  Value zero = l.create<arith::ConstantOp>(cast<TypedAttr>(l.builder.getZeroAttr(expanded)));
  return l.create<arith::SelectOp>(mask, repeated, zero);
}

bool RaggedDot::isOfMatrices(bool isContracted) {
  Type element = l.getElementType(0);
  return l.getOperandType(2).getRank() == 1 && l.getOperandType(0).getRank() == 2 &&
         l.getOperandType(1).getRank() == (isContracted ? 2 : 3) && dims.getLhsContracting().size() == 1 &&
         l.getElementType(1) == element &&
         l.getResultType().getElementType() == tensorType(l.operands[0]).getElementType();
}

std::pair<Value, Value> RaggedDot::numberGroups(int64_t rows) {
  RankedTensorType sizes = l.getOperandType(2).clone(tensorType(l.operands[2]).getElementType());
  Value ends = l.create<CumulativeOp>(sizes, l.operands[2], ReduceKind::Add, 0, /*reverse=*/false);
  auto table = RankedTensorType::get({sizes.getDimSize(0), rows}, sizes.getElementType());
  RankedTensorType numbers = table.clone(l.builder.getI32Type());
  Value isBehind =
      l.create<arith::CmpIOp>(arith::CmpIPredicate::sle, l.create<BroadcastInDimOp>(table, ends, ArrayRef<int64_t>{0}),
                              l.create<IotaOp>(table, 1));
  Value row = l.create<ReduceOp>(numbers.clone({rows}), l.create<arith::ExtUIOp>(numbers, isBehind), ReduceKind::Add,
                                 ArrayRef<int64_t>{0});
  return {row, l.create<IotaOp>(numbers.clone({sizes.getDimSize(0)}), 0)};
}

Value RaggedDot::permute(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation)) return value;
  auto shape = llvm::map_to_vector(permutation, [&](int64_t dim) { return tensorType(value).getDimSize(dim); });
  return l.create<TransposeOp>(tensorType(value).clone(shape), value, permutation);
}

LogicalResult RaggedDot::lowerMatrices(bool isContracted) {
  int64_t ragged = dims.getLhsRagged()[0], contracted = dims.getRhsContracting()[0];
  Value lhs = permute(l.operands[0], {ragged, 1 - ragged}), rhs = l.operands[1];
  bool isTransposed = false;
  if (isContracted) {
    rhs = permute(rhs, {contracted, 1 - contracted});
  } else {
    int64_t group = dims.getRhsGroup()[0], free = 3 - group - contracted;
    isTransposed = free < contracted;
    rhs = permute(rhs, {group, std::min(free, contracted), std::max(free, contracted)});
  }
  auto [rows, groups] = numberGroups(tensorType(lhs).getDimSize(0));
  return l.replace<GroupedDotOp>(l.getResultType(), lhs, rhs, rows, groups, isContracted, isTransposed, allowsTf32());
}

bool RaggedDot::allowsTf32() {
  auto isDefault = [](Attribute precision) {
    return cast<chlo::PrecisionAttr>(precision).getValue() == chlo::Precision::DEFAULT;
  };
  return l.allowsTf32 && l.isF32Matmul() &&
         (!op.getPrecisionConfig() || llvm::all_of(*op.getPrecisionConfig(), isDefault));
}

LogicalResult RaggedDot::finishDot(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                                   ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsContracting) {
  return l.replace<DotGeneralOp>(l.getResultType(), lhs, rhs, lhsBatch, rhsBatch, lhsContracting, rhsContracting,
                                 allowsTf32());
}

LogicalResult RaggedDot::run() {
  if (verify().failed()) return failure();
  ArrayRef<int64_t> lhsBatch = dims.getLhsBatching(), rhsBatch = dims.getRhsBatching(),
                    lhsContracting = dims.getLhsContracting(), rhsContracting = dims.getRhsContracting();
  int64_t ragged = dims.getLhsRagged()[0];
  if (llvm::is_contained(lhsBatch, ragged))
    return finishDot(l.operands[0], l.operands[1], lhsBatch, rhsBatch, lhsContracting, rhsContracting);

  const int64_t* contracted = llvm::find(lhsContracting, ragged);
  bool isContracted = contracted != lhsContracting.end();
  if (isOfMatrices(isContracted)) return lowerMatrices(isContracted);
  SmallVector<int64_t> free = getFreeDims();
  RaggedOperand lhs{l.operands[0], ragged, getPrefix(lhsBatch, isContracted ? lhsContracting : ArrayRef(free), ragged)};
  RankedTensorType sizes = l.getOperandType(2);
  SmallVector<int64_t> expected =
      llvm::map_to_vector(lhs.prefix, [&](int64_t dim) { return tensorType(lhs.value).getDimSize(dim); });
  if (sizes.getRank() > 1 && sizes.getShape().drop_back() != ArrayRef(expected))
    return l.error() << "has group sizes of type " << sizes << "; expected [" << expected << "] before the groups";
  SmallVector<int64_t> lhsDims = behindGroups(lhsContracting), lhsBatchDims = behindGroups(lhsBatch);
  if (!isContracted) {
    SmallVector<int64_t> rhsDims(rhsContracting);
    lhsDims.push_back(0);
    rhsDims.push_back(dims.getRhsGroup()[0]);
    return finishDot(expand(lhs), l.operands[1], lhsBatchDims, rhsBatch, lhsDims, rhsDims);
  }
  int64_t rhsRagged = rhsContracting[contracted - lhsContracting.begin()];
  RaggedOperand rhs{l.operands[1], rhsRagged, getPrefix(rhsBatch, rhsContracting, rhsRagged)};
  SmallVector<int64_t> lhsAll{0}, rhsAll{0};
  llvm::append_range(lhsAll, lhsBatchDims);
  llvm::append_range(rhsAll, behindGroups(rhsBatch));
  // Zeros of one operand do, unless the other one has infinities in rows of other groups.
  return finishDot(expand(lhs), expand(rhs), lhsAll, rhsAll, lhsDims, behindGroups(rhsContracting));
}

LogicalResult lowerRaggedDot(OpLowering& l) { return RaggedDot(l).run(); }

}  // namespace

void mlir::sgd::addRaggedLowerings(LoweringTable& table) { table["chlo.ragged_dot"] = lowerRaggedDot; }
