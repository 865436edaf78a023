// Lowers ragged_all_to_all of manual computations: slices of whatever length, known when they are sent, as a plain
// all-to-all of slices of the greatest length that fits, from which each rank picks the rows that its output has.
// jax.lax.ragged_all_to_all says what it means.
#include "dialects/spmd/spmd_dialect.h"
#include "frontends/stablehlo/collective_axes.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class RaggedAllToAll {
 public:
  explicit RaggedAllToAll(OpLowering& l) : l(l), index(l.builder.getI64Type()) {}

  LogicalResult run();

 private:
  LogicalResult verify();
  /// Operand `number`, offsets or sizes, as 64-bit integers.
  Value readSlices(unsigned number);
  /// Sends each rank's value per slice to the slice's receiver: element i of the result comes from the sender of slice
  /// i.
  Value exchange(Value perSlice) { return l.create<spmd::AllToAllOp>(perSlice.getType(), perSlice, 0, 0, axes); }
  RankedTensorType indices(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, index); }
  Value number(RankedTensorType type, int64_t value) { return l.splat(type, APInt(64, value, /*isSigned=*/true)); }
  /// Rows of `from` at `rows`, whatever shape these have.
  Value takeRows(Value from, Value rows);
  /// All slices, cut or padded to `length` rows, exchanged: row `slice * length + i`.
  Value exchangeSlices(int64_t length);

  OpLowering& l;
  Type index;
  AxisListAttr axes;
  int64_t ranks = 0, slices = 0;
};

LogicalResult RaggedAllToAll::verify() {
  auto config = l.op->getAttrOfType<DictionaryAttr>("backend_config");
  auto groups = config ? config.getAs<DenseIntElementsAttr>("replica_groups") : DenseIntElementsAttr();
  if (!groups || l.operands.size() != 6 || l.op->getNumResults() != 1)
    return l.error()
           << "@ragged_all_to_all needs six operands, one result and the replica_groups in its backend_config";
  RankedTensorType input = l.getOperandType(0), output = l.getOperandType(1), sizes = l.getOperandType(2);
  bool fits = input.getRank() > 0 && output.getRank() == input.getRank() &&
              output.getElementType() == input.getElementType() &&
              input.getShape().drop_front() == output.getShape().drop_front() && l.getResultType() == output &&
              sizes.getRank() == 1 && input.getDimSize(0) > 0;
  for (unsigned i = 2; i < 6; ++i)
    fits &=
        l.getOperandType(i).getShape() == sizes.getShape() && isa<IntegerType>(l.getOperandType(i).getElementType());
  if (!fits)
    return l.error()
           << "@ragged_all_to_all needs rows of one shape and four vectors of offsets and sizes of one length";
  FailureOr<AxisListAttr> found = findCollectiveAxes(l, groups);
  if (failed(found)) return failure();
  axes = *found;
  ranks = *spmd::getGroupSize(l.builder.getInsertionBlock()->getParentOp(), axes);
  slices = sizes.getDimSize(0);
  if (slices == 0 || slices % ranks != 0)
    return l.error() << "@ragged_all_to_all has " << slices << " slices for groups of " << ranks
                     << " ranks; expected as many for each rank";
  return success();
}

Value RaggedAllToAll::readSlices(unsigned number) {
  Value value = l.operands[number];
  RankedTensorType type = indices(tensorType(value).getShape());
  if (tensorType(value) == type) return value;
  return isUnsigned(l.getElementType(number)) ? l.create<arith::ExtUIOp>(type, value)
                                              : l.create<arith::ExtSIOp>(type, value);
}

Value RaggedAllToAll::takeRows(Value from, Value rows) {
  RankedTensorType type = tensorType(from);
  int64_t rank = tensorType(rows).getRank();
  SmallVector<int64_t> shape(tensorType(rows).getShape()), sizes(type.getShape()), offsets, none;
  llvm::append_range(shape, type.getShape().drop_front());
  for (int64_t dim = rank; dim < static_cast<int64_t>(shape.size()); ++dim) offsets.push_back(dim);
  sizes[0] = 1;
  SmallVector<int64_t> first{0};
  return l.create<GatherOp>(type.clone(shape), from, rows, offsets, first, none, none, first, rank, sizes,
                            /*unsigned_indices=*/false);
}

Value RaggedAllToAll::exchangeSlices(int64_t length) {
  RankedTensorType rows = indices({slices, length});
  SmallVector<int64_t> bySlice{0};
  // Rows behind the end of a slice are anyone's: no output has them. Gathers clamp.
  Value at =
      l.create<arith::AddIOp>(l.create<BroadcastInDimOp>(rows, readSlices(2), bySlice), l.create<IotaOp>(rows, 1));
  Value sent = exchange(takeRows(l.operands[0], at));
  SmallVector<int64_t> shape(tensorType(sent).getShape().drop_front());
  shape[0] *= slices;
  return l.create<ReshapeOp>(tensorType(sent).clone(shape), sent);
}

LogicalResult RaggedAllToAll::run() {
  if (verify().failed()) return failure();
  RankedTensorType output = l.getOperandType(1);
  int64_t inputRows = l.getOperandType(0).getDimSize(0), outputRows = output.getDimSize(0);
  if (outputRows == 0) return l.finish(l.operands[1]);
  int64_t length = std::min(inputRows, outputRows);
  Value offsets = exchange(readSlices(4)), sizes = readSlices(5), received, firsts;
  if (slices / ranks * length <= inputRows) {
    received = exchangeSlices(length);
    RankedTensorType type = indices({slices});
    firsts = l.create<arith::MulIOp>(l.create<IotaOp>(type, 0), number(type, length));
  } else {
    // With several slices for a rank, all rows of all ranks are fewer than slices of the greatest length.
    SmallVector<int64_t> shape(l.getOperandType(0).getShape());
    shape[0] *= ranks;
    received = spmd::AllGatherOp::create(l.builder, l.loc, TypeRange{output.clone(shape)}, ValueRange{l.operands[0]},
                                         ArrayRef<int64_t>{0}, axes)
                   .getResult(0);
    RankedTensorType type = indices({slices});
    Value sender = l.create<DivSIOp>(l.create<IotaOp>(type, 0), number(type, slices / ranks));
    firsts = l.create<arith::AddIOp>(l.create<arith::MulIOp>(sender, number(type, inputRows)), exchange(readSlices(2)));
  }
  // For each row of the output: the slice that contains it, if any, and the received row that it copies.
  RankedTensorType table = indices({slices, outputRows}), column = indices({outputRows});
  SmallVector<int64_t> bySlice{0};
  auto spread = [&](Value perSlice) { return l.create<BroadcastInDimOp>(table, perSlice, bySlice); };
  Value within = l.create<arith::SubIOp>(l.create<IotaOp>(table, 1), spread(offsets));
  Value isIn = l.create<arith::AndIOp>(l.create<arith::CmpIOp>(arith::CmpIPredicate::sge, within, number(table, 0)),
                                       l.create<arith::CmpIOp>(arith::CmpIPredicate::slt, within, spread(sizes)));
  Value row = l.create<arith::AddIOp>(spread(firsts), within);
  Value candidates = l.create<arith::SelectOp>(isIn, row, number(table, -1));
  Value source = l.create<ReduceOp>(column, candidates, ReduceKind::Max, bySlice);
  Value isReceived = l.create<arith::CmpIOp>(arith::CmpIPredicate::sge, source, number(column, 0));
  Value mask = l.create<BroadcastInDimOp>(output.clone(l.builder.getI1Type()), isReceived, bySlice);
  return l.replace<arith::SelectOp>(mask, takeRows(received, source), l.operands[1]);
}

}  // namespace

LogicalResult mlir::sgd::lowerRaggedAllToAll(OpLowering& l) { return RaggedAllToAll(l).run(); }
