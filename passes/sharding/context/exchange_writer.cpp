// Constraints on both sides of each change: propagation then moves neither of them to where the other one would do.
#include "passes/sharding/context/exchange_writer.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class ExchangeWriter {
 public:
  ExchangeWriter(const AttentionPattern& pattern, const ContextSharding& sharding, const MeshAxes& mesh)
      : pattern(pattern), sharding(sharding), mesh(mesh) {}

  void write() {
    LabelMap scoreDims = getDims(pattern.scores.matmul.getResultLabels(), pattern.scores.matmulDims);
    constrainOperands(pattern.scores.matmul, scoreDims);
    constrain(pattern.scores.matmul.getResult(), pattern.scores.matmulDims, /*byPosition=*/false);
    const SoftmaxUses& uses = pattern.uses;
    if (uses.weightGradient) {
      const WeightGradient& gradient = *uses.weightGradient;
      bool isLhsValue = isSource(gradient.op.getLhs(), gradient.value.value);
      setOperand(gradient.op, isLhsValue ? 0 : 1, gradient.value);
      setOperand(gradient.op, isLhsValue ? 1 : 0, gradient.outGradient);
    }
    for (const auto* matmul : {&uses.out, &uses.valueGradient, &uses.queryGradient, &uses.keyGradient})
      if (*matmul) constrainMatmul(**matmul);
  }

 private:
  using LabelMap = llvm::SmallDenseMap<int64_t, int64_t, 8>;

  static LabelMap getDims(ArrayRef<int64_t> labels, ArrayRef<int64_t> dims) {
    LabelMap map;
    for (auto [label, dim] : llvm::zip(labels, dims)) map[label] = dim;
    return map;
  }

  /// Whether `value` is `source` but for its layout.
  static bool isSource(Value value, Value source) {
    return stripLayout(value, llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank())))
               .value == source;
  }

  ShardingAttr getSharding(ArrayRef<int64_t> dims, bool byPosition) {
    MLIRContext* ctx = mesh.getMesh().getContext();
    SmallVector<DimShardingAttr> shardings;
    for (int64_t dim : dims) {
      bool isPosition = dim == pattern.row || dim == pattern.getColumn(), isExchanged = dim == *sharding.exchanged;
      SmallVector<AxisRefAttr> axes;
      auto append = [&](ArrayRef<AxisPart> parts) {
        for (const AxisPart& part : parts) axes.push_back(getAxisRef(mesh.getMesh(), part));
      };
      if (dim >= 0) append(sharding.others[dim]);
      if (byPosition ? isPosition : isExchanged) append(sharding.positions);
      shardings.push_back(DimShardingAttr::get(ctx, axes, /*isOpen=*/!isPosition && !isExchanged, std::nullopt));
    }
    return ShardingAttr::get(ctx, mesh.getName(), shardings, {}, {}, ReduceKind::Add);
  }

  /// All readers of `value` read it constrained.
  void constrain(Value value, ArrayRef<int64_t> dims, bool byPosition) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    auto constraint = ShardingConstraintOp::create(builder, value.getLoc(), value, getSharding(dims, byPosition));
    value.replaceAllUsesExcept(constraint.getResult(), constraint);
  }

  /// The matmul reads an operand that is sharded by position.
  void setOperand(const LabelledMatmul& matmul, unsigned number, ArrayRef<int64_t> dims) {
    OpBuilder builder(matmul.operator->());
    Value operand = matmul->getOperand(number);
    matmul->setOperand(number, ShardingConstraintOp::create(builder, operand.getLoc(), operand,
                                                            getSharding(dims, /*byPosition=*/true)));
  }

  /// The same for an operand that is known before transposes.
  void setOperand(const LabelledMatmul& matmul, unsigned number, const LabelledValue& source) {
    // Dimensions of the operand: those of its source go through the transposes between them.
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, source.labels.size()));
    SmallVector<int64_t> from = stripLayout(matmul->getOperand(number), order).labels, dims(order.size());
    for (auto [at, dim] : llvm::enumerate(from)) dims[dim] = source.labels[at];
    setOperand(matmul, number, dims);
  }

  void constrainOperands(const LabelledMatmul& matmul, const LabelMap& map) {
    auto rename = [&](ArrayRef<int64_t> labels) {
      return llvm::map_to_vector(labels, [&](int64_t label) {
        auto found = map.find(label);
        return found == map.end() ? kOwnLabel : found->second;
      });
    };
    setOperand(matmul, 0, rename(matmul.getLhsLabels()));
    setOperand(matmul, 1, rename(matmul.getRhsLabels()));
  }

  /// Reads an operand by position, and is read by position; is computed by heads.
  void constrainMatmul(const SoftmaxMatmul& matmul) {
    bool isLhs = isSource(matmul.op.getLhs(), matmul.other.value);
    setOperand(matmul.op, isLhs ? 0 : 1, matmul.other);
    Value result = matmul.op.getResult();
    constrain(result, matmul.resultLabels, /*byPosition=*/false);
    constrain((*result.user_begin())->getResult(0), matmul.resultLabels, /*byPosition=*/true);
  }

  const AttentionPattern& pattern;
  const ContextSharding& sharding;
  const MeshAxes& mesh;
};
}  // namespace

void mlir::sgd::writeExchange(const AttentionPattern& pattern, const ContextSharding& sharding, const MeshAxes& mesh) {
  ExchangeWriter(pattern, sharding, mesh).write();
}
