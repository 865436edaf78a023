// An abstract run of the group over two boxes: the columns that would be left out, where everything must end as zero
// before it is summed, and the first column, which must not be masked, so that a row's maximum is a score.
#include "passes/kernels/tiles/masked_columns.h"

#include "dialects/fusion/fusion_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "passes/graph/attention/attention_scores.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The value that all elements of a tensor in the box have.
enum class Content {
  Data,  // scores, weights, anything finite
  Zero,
  Masked,  // at most kMaskedScore
  Never,   // minus infinity: masked whatever a row's maximum is
  Mixed,   // nothing is known: perhaps masked
};

class Run {
 public:
  Run(const TileGroup& group, const RowBlock& block, IndexRange columns)
      : group(group), block(block), columns(columns) {}

  /// Content of `value`, which has columns, in the box. Block arguments are looked up outside of their cluster.
  Content get(Value value) {
    if (!group.dims.has(value, *group.column)) return Content::Data;
    if (auto found = known.find(value); found != known.end()) return found->second;
    Content content = compute(value);
    known[value] = content;
    return content;
  }

 private:
  Content compute(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto cluster = dyn_cast<fusion::ClusterOp>(argument.getOwner()->getParentOp());
      return cluster ? get(cluster.getInputs()[argument.getArgNumber()]) : Content::Data;
    }
    Operation* op = value.getDefiningOp();
    bool isInside = isa<fusion::ClusterOp>(op->getParentOp());
    if (!isInside && !group.contains(op)) return Content::Data;
    return llvm::TypeSwitch<Operation*, Content>(op)
        .Case([&](fusion::ClusterOp cluster) {
          unsigned number = cast<OpResult>(value).getResultNumber();
          return get(cluster.getBody().front().getTerminator()->getOperand(number));
        })
        .Case([&](fusion::MatmulOp matmul) {
          auto isZero = [&](Value operand) {
            return group.dims.has(operand, *group.column) && get(operand) == Content::Zero;
          };
          return isZero(matmul.getLhs()) || isZero(matmul.getRhs()) ? Content::Zero : Content::Data;
        })
        .Case([&](arith::ConstantOp constant) { return computeConstant(constant); })
        .Case([&](arith::SelectOp select) { return computeSelect(select); })
        .Case<BroadcastInDimOp, ReshapeOp, TransposeOp, ReduceOp>([&](auto move) { return get(move.getInput()); })
        .Case<arith::ExtFOp, arith::TruncFOp>([&](auto cast) { return get(cast.getIn()); })
        .Default([&](Operation* other) { return computeArithmetic(other); });
  }

  static Content computeConstant(arith::ConstantOp constant) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    auto number = splat ? dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>()) : FloatAttr();
    if (!number) return Content::Data;
    if (number.getValue().isZero()) return Content::Zero;
    if (number.getValue().isInfinity() && number.getValue().isNegative()) return Content::Never;
    return number.getValueAsDouble() <= kMaskedScore ? Content::Masked : Content::Data;
  }

  Content computeSelect(arith::SelectOp select) {
    Content yes = get(select.getTrueValue()), no = get(select.getFalseValue());
    if (!group.dims.contains(select.getCondition())) return Content::Mixed;
    IndexBox box = group.getBox(select.getCondition(), block);
    int64_t dim = group.dims.getDim(select.getCondition(), *group.column);
    if (dim >= 0) box[dim] = columns;
    // The loops' dimensions stand for any index.
    IndexBox whole = getWholeBox(select.getCondition());
    for (unsigned loop : group.loops)
      if (int64_t at = group.dims.getDim(select.getCondition(), loop); at >= 0) box[at] = whole[at];
    if (std::optional<bool> truth = getTruth(select.getCondition(), box)) return *truth ? yes : no;
    return yes == no ? yes : Content::Mixed;
  }

  /// A positive splat of moderate size, which leaves a masked score masked.
  static bool isScale(Value value) {
    while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) value = broadcast.getInput();
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    auto number = splat ? dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>()) : FloatAttr();
    return number && number.getValueAsDouble() >= 1e-3 && number.getValueAsDouble() <= 1e3;
  }

  Content computeArithmetic(Operation* op) {
    SmallVector<Content, 3> in;
    for (Value operand : op->getOperands()) in.push_back(get(operand));
    if (llvm::is_contained(in, Content::Mixed)) return Content::Mixed;
    bool isMasked = in[0] == Content::Masked || in[0] == Content::Never;
    if (isa<math::ExpOp>(op)) return isMasked ? Content::Zero : Content::Data;
    if (isa<arith::NegFOp>(op)) return in[0] == Content::Zero ? Content::Zero : leave(in);
    if (isa<arith::SubFOp>(op) && isMasked && !group.dims.has(getPlain(op->getOperand(1)), *group.column)) return in[0];
    if (isa<arith::AddFOp, arith::SubFOp>(op) && in[0] == Content::Zero && in[1] == Content::Zero) return Content::Zero;
    if (isa<arith::MulFOp>(op) && (in[0] == Content::Zero || in[1] == Content::Zero)) return Content::Zero;
    if (isa<arith::DivFOp>(op) && in[0] == Content::Zero) return Content::Zero;
    if (isa<arith::MulFOp, arith::DivFOp>(op) && isMasked && isScale(op->getOperand(1))) return in[0];
    return leave(in);
  }

  /// The value before it was repeated along the columns.
  static Value getPlain(Value value) {
    while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) value = broadcast.getInput();
    return value;
  }

  /// The result of an op that nothing is known about.
  static Content leave(ArrayRef<Content> in) {
    bool isMasked = llvm::is_contained(in, Content::Masked) || llvm::is_contained(in, Content::Never);
    return isMasked ? Content::Mixed : Content::Data;
  }

  const TileGroup& group;
  const RowBlock& block;
  IndexRange columns;
  llvm::DenseMap<Value, Content> known;
};

class Check {
 public:
  Check(const TileGroup& group, const RowBlock& block)
      : group(group),
        left(group, block, {block.columns, group.dims[*group.column].size - block.columns}),
        first(group, block, {0, 1}) {}

  bool run() {
    return llvm::all_of(group.ops, [&](Operation* op) {
      if (auto matmul = dyn_cast<fusion::MatmulOp>(op)) return mayLeaveOut(matmul);
      return mayLeaveOut(cast<fusion::ClusterOp>(op));
    });
  }

 private:
  bool hasColumns(Value value) const { return group.dims.has(value, *group.column); }

  bool mayLeaveOut(fusion::MatmulOp op) {
    bool reads = hasColumns(op.getLhs()) || hasColumns(op.getRhs());
    Value result = op.getResult();
    // Stored values have zeros there: the sum over rows leaves them out, any other op would have to write them.
    if (hasColumns(result))
      return group.isInternal(result) || (group.sumsOverRows(op) && left.get(result) == Content::Zero);
    return !reads || (hasColumns(op.getLhs()) && left.get(op.getLhs()) == Content::Zero) ||
           (hasColumns(op.getRhs()) && left.get(op.getRhs()) == Content::Zero);
  }

  bool mayLeaveOut(fusion::ClusterOp op) {
    for (Value result : op.getResults())
      if (hasColumns(result) && !group.isInternal(result)) return false;
    for (auto reduce : op.getBody().front().getOps<ReduceOp>()) {
      Value input = reduce.getInput();
      if (!hasColumns(input) || hasColumns(reduce.getResult())) continue;
      Content content = left.get(input);
      bool isNeutral =
          (reduce.getKind() == ReduceKind::Add && content == Content::Zero) ||
          (reduce.getKind() == ReduceKind::Max &&
           (content == Content::Never || (content == Content::Masked && first.get(input) == Content::Data)));
      if (!isNeutral) return false;
    }
    return true;
  }

  const TileGroup& group;
  Run left, first;
};

}  // namespace

bool mlir::sgd::canLeaveOutColumns(const TileGroup& group, const RowBlock& block) { return Check(group, block).run(); }
