// The pass sgd-match-attention: softmaxes between matmuls of queries, keys and values become attention ops. A sweep
// over blocks, from each exponential: forward and backward pass are recognised together, and what they leave unused is
// removed at the end.
#include "dialects/fusion/attention.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/attention/attention_pattern.h"
#include "passes/kernels/library/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_MATCHATTENTIONPASS
#include "passes/kernels/library/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using Form = fusion::AttentionOpInterface;

namespace {

/// One softmax with its matmuls as attention ops.
class AttentionWriter {
 public:
  AttentionWriter(const AttentionPattern& pattern, int64_t mostDepth)
      : pattern(pattern),
        scores(pattern.scores),
        uses(pattern.uses),
        mostDepth(mostDepth),
        shape(pattern.shape),
        row(pattern.row),
        query(pattern.query),
        key(pattern.key),
        value(pattern.value) {
    nameDims();
  }

  /// Whether the target's kernels take keys and values of this depth.
  bool fits() const {
    auto isDepth = [&](int64_t size) { return size >= 1 && size <= mostDepth; };
    return isDepth(AttentionPattern::getDepth(query)) && isDepth(AttentionPattern::getDepth(value));
  }

  void write() {
    OpBuilder builder(scores.exponential);
    builder.setInsertionPointAfter(latest({exponential(), value.value, maskOrBias()}));
    writeForward(builder);
    if (pattern.hasGradients()) writeGradients(builder);
  }

 private:
  Value exponential() { return scores.exponential.getResult(); }
  Value maskOrBias() { return scores.mask ? scores.mask : scores.bias; }

  /// Labels of the attention ops by dimension of the exponentials.
  void nameDims() {
    int64_t next = Form::kBatch;
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      names.push_back(dim == row ? Form::kRow : dim == scores.column ? Form::kColumn : next++);
  }

  SmallVector<int64_t> rename(ArrayRef<int64_t> dims, int64_t own) const {
    SmallVector<int64_t> labels;
    for (int64_t dim : dims) labels.push_back(dim == kOwnLabel ? own : names[dim]);
    return labels;
  }

  // Writing
  // -------------------------------------------------------------------------------------------------------------------

  /// The last of the ops, all in one block, that compute `values`; those of them that are there.
  Operation* latest(ArrayRef<Value> values) {
    Operation* last = scores.exponential;
    for (Value value : values) {
      Operation* op = value ? value.getDefiningOp() : nullptr;
      if (op && op->getBlock() == last->getBlock() && last->isBeforeInBlock(op)) last = op;
    }
    return last;
  }

  /// A bias or mask without the dimensions that it was broadcast along.
  LabelledValue narrow(OpBuilder& builder, Value tensor, const ScoreDims& dims) {
    ScoreDims labels(rename(dims, kOwnLabel));
    while (Operation* op = tensor.getDefiningOp()) {
      std::optional<ScoreDims> inner = getOperandDims(op, labels);
      if (!inner) break;
      labels = *inner;
      tensor = op->getOperand(0);
    }
    LabelledValue result{tensor, {}};
    SmallVector<int64_t> sizes;
    for (auto [label, size] : llvm::zip(labels, tensorType(tensor).getShape()))
      if (label != kNone) result.labels.push_back(label), sizes.push_back(size);
    RankedTensorType type = RankedTensorType::get(sizes, tensorType(tensor).getElementType());
    if (type != tensor.getType()) result.value = ReshapeOp::create(builder, tensor.getLoc(), type, tensor);
    return result;
  }

  void prepareModifiers(OpBuilder& builder) {
    if (scores.bias) bias = narrow(builder, scores.bias, scores.biasDims);
    if (!scores.mask) return;
    diagonal = pattern.getDiagonal();
    if (diagonal) return;
    mask = narrow(builder, scores.mask, scores.maskDims);
    if (!scores.hidesWhereTrue) return;
    RankedTensorType type = tensorType(mask.value);
    auto all = DenseElementsAttr::get(type, true);
    Value ones = arith::ConstantOp::create(builder, mask.value.getLoc(), type, all);
    mask.value = arith::XOrIOp::create(builder, mask.value.getLoc(), mask.value, ones);
  }

  template <typename Op>
  void setModifiers(OpBuilder& builder, OperationState& state) {
    auto labels = [&](ArrayRef<int64_t> list) { return builder.getDenseI64ArrayAttr(list); };
    state.addAttribute("query_labels", labels(rename(query.labels, Form::kDepth)));
    state.addAttribute("key_labels", labels(rename(key.labels, Form::kDepth)));
    state.addAttribute("value_labels", labels(rename(value.labels, Form::kValueDepth)));
    state.addAttribute("scale", builder.getF64FloatAttr(scores.scale));
    if (bias.value) state.addOperands(bias.value), state.addAttribute("bias_labels", labels(bias.labels));
    if (mask.value) {
      state.addOperands(mask.value);
      state.addAttribute("mask_labels", labels(mask.labels));
      state.addAttribute("fill", builder.getF64FloatAttr(scores.fill));
    }
    if (diagonal) state.addAttribute("diagonal", builder.getI64IntegerAttr(*diagonal));
    SmallVector<int32_t> segments(state.operands.size(), 1);
    if (bias.value) segments.pop_back();
    if (mask.value) segments.pop_back();
    segments.push_back(bias.value ? 1 : 0);
    segments.push_back(mask.value ? 1 : 0);
    state.addAttribute(Op::getOperandSegmentSizeAttr(), builder.getDenseI32ArrayAttr(segments));
  }

  SmallVector<int64_t> statisticsShape() const {
    SmallVector<int64_t> sizes;
    for (int64_t dim : pattern.getDimsWithout(scores.column))
      if (dim != row) sizes.push_back(shape[dim]);
    sizes.push_back(shape[row]);
    return sizes;
  }
  /// Labels of statistics, then the depth of values.
  SmallVector<int64_t> outLabelsInOrder() const {
    SmallVector<int64_t> labels;
    for (int64_t dim : pattern.getDimsWithout(scores.column))
      if (dim != row) labels.push_back(names[dim]);
    labels.append({Form::kRow, Form::kValueDepth});
    return labels;
  }

  void writeForward(OpBuilder& builder) {
    prepareModifiers(builder);
    Location loc = scores.exponential.getLoc();
    OperationState state(loc, fusion::AttentionOp::getOperationName());
    state.addOperands({query.value, key.value, value.value});
    setModifiers<fusion::AttentionOp>(builder, state);
    outLabels = uses.out ? rename(uses.out->resultLabels, Form::kValueDepth) : outLabelsInOrder();
    state.addAttribute("out_labels", builder.getDenseI64ArrayAttr(outLabels));
    SmallVector<int64_t> sizes = statisticsShape();
    RankedTensorType statistics = RankedTensorType::get(sizes, builder.getF32Type());
    sizes.push_back(AttentionPattern::getDepth(value));
    RankedTensorType ordered = RankedTensorType::get(sizes, tensorType(value.value).getElementType());
    state.addTypes({uses.out ? uses.out->op.getType() : ordered, statistics, statistics});
    forward = cast<fusion::AttentionOp>(builder.create(state));
    if (!uses.out) return;
    uses.out->op.getResult().replaceAllUsesWith(forward.getOut());
  }

  /// f32, dimensions as in `outLabelsInOrder`.
  Value inOrder(OpBuilder& builder, Value tensor, ArrayRef<int64_t> labels) {
    RankedTensorType type = tensorType(tensor);
    Location loc = scores.exponential.getLoc();
    SmallVector<int64_t> permutation, sizes;
    for (int64_t label : outLabelsInOrder()) {
      permutation.push_back(llvm::find(labels, label) - labels.begin());
      sizes.push_back(type.getDimSize(permutation.back()));
    }
    if (!type.getElementType().isF32())
      tensor = arith::ExtFOp::create(builder, loc, type.clone(builder.getF32Type()), tensor);
    auto ordered = RankedTensorType::get(sizes, builder.getF32Type());
    return TransposeOp::create(builder, loc, ordered, tensor, permutation);
  }

  /// The sum over the depth of values of the result times its gradient.
  Value writeRowDot(OpBuilder& builder, const LabelledValue& outGradient) {
    Location loc = scores.exponential.getLoc();
    Value out = inOrder(builder, forward.getOut(), outLabels);
    Value gradient = inOrder(builder, outGradient.value, rename(outGradient.labels, Form::kValueDepth));
    Value weighted = arith::MulFOp::create(builder, loc, out, gradient);
    int64_t last = tensorType(weighted).getRank() - 1;
    return ReduceOp::create(builder, loc, forward.getRowMax().getType(), weighted, ReduceKind::Add, last);
  }

  template <typename Op>
  OperationState makeGradient(OpBuilder& builder, Value rowDot) {
    const LabelledValue& outGradient = uses.weightGradient->outGradient;
    OperationState state(scores.exponential.getLoc(), Op::getOperationName());
    state.addOperands(
        {query.value, key.value, value.value, outGradient.value, forward.getRowMax(), forward.getRowSum(), rowDot});
    setModifiers<Op>(builder, state);
    state.addAttribute("out_labels", builder.getDenseI64ArrayAttr(rename(outGradient.labels, Form::kValueDepth)));
    return state;
  }

  /// Type and labels of a gradient: as the program has it, or as its operand when nobody asks for it.
  void addGradient(OpBuilder& builder, OperationState& state, StringRef name,
                   const std::optional<SoftmaxMatmul>& matmul, const LabelledValue& operand, int64_t own) {
    state.addTypes(matmul ? matmul->op->getResult(0).getType() : operand.value.getType());
    state.addAttribute(name, builder.getDenseI64ArrayAttr(rename(matmul ? matmul->resultLabels : operand.labels, own)));
  }

  void writeGradients(OpBuilder& builder) {
    Value outGradient = uses.weightGradient->outGradient.value;
    builder.setInsertionPointAfter(latest({outGradient, forward.getOut(), uses.weightGradient->value.value}));
    Value rowDot = writeRowDot(builder, uses.weightGradient->outGradient);
    if (uses.queryGradient) {
      auto state = makeGradient<fusion::AttentionQueryGradientOp>(builder, rowDot);
      addGradient(builder, state, "gradient_labels", uses.queryGradient, query, Form::kDepth);
      uses.queryGradient->op->replaceAllUsesWith(builder.create(state));
    }
    if (!uses.keyGradient && !uses.valueGradient) return;
    auto state = makeGradient<fusion::AttentionKeyGradientOp>(builder, rowDot);
    addGradient(builder, state, "key_gradient_labels", uses.keyGradient, key, Form::kDepth);
    addGradient(builder, state, "value_gradient_labels", uses.valueGradient, value, Form::kValueDepth);
    auto gradient = cast<fusion::AttentionKeyGradientOp>(builder.create(state));
    auto replace = [](const std::optional<SoftmaxMatmul>& matmul, Value by) {
      if (matmul) matmul->op.getResult().replaceAllUsesWith(by);
    };
    replace(uses.keyGradient, gradient.getKeyGradient());
    replace(uses.valueGradient, gradient.getValueGradient());
  }

  const AttentionPattern& pattern;
  AttentionScores scores;
  const SoftmaxUses& uses;
  int64_t mostDepth;
  ArrayRef<int64_t> shape;  // of the exponentials
  int64_t row;
  SmallVector<int64_t> names;  // labels of the ops by dimension of the exponentials
  const LabelledValue &query, &key, &value;
  LabelledValue bias, mask;  // with the ops' labels; null: none
  std::optional<int64_t> diagonal;
  fusion::AttentionOp forward;
  SmallVector<int64_t> outLabels;
};

struct MatchAttentionPass : mlir::sgd::impl::MatchAttentionPassBase<MatchAttentionPass> {
  using MatchAttentionPassBase::MatchAttentionPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody())) return;
    for (Block* block : getProgramBlocks(function)) {
      SmallVector<math::ExpOp> exponentials(block->getOps<math::ExpOp>());
      bool changed = false;
      for (math::ExpOp exponential : exponentials) changed |= form(exponential);
      if (changed) eraseUnused(*block);
    }
  }

  bool form(math::ExpOp exponential) {
    std::optional<AttentionPattern> pattern = matchAttention(exponential);
    if (!pattern) return false;
    AttentionWriter writer(*pattern, depth);
    if (!writer.fits()) return false;
    writer.write();
    return true;
  }

  static void eraseUnused(Block& block) {
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) op.erase();
  }
};

}  // namespace
