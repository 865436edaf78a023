// The pass sgd-match-attention: softmaxes between matmuls of queries, keys and values become attention ops. A sweep
// over blocks, from each exponential: forward and backward pass are recognised together, and what they leave unused is
// removed at the end.
#include "dialects/fusion/attention.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/schedule/index_ranges.h"
#include "passes/schedule/masked_columns.h"
#include "passes/schedule/passes.h"
#include "passes/schedule/softmax_uses.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_MATCHATTENTIONPASS
#include "passes/schedule/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using Form = fusion::AttentionOpInterface;

namespace {

/// One softmax with its matmuls as attention ops.
class AttentionWriter {
 public:
  AttentionWriter(const AttentionScores& scores, const SoftmaxUses& uses, int64_t mostDepth)
      : scores(scores), uses(uses), mostDepth(mostDepth), shape(tensorType(exponential()).getShape()) {}

  /// Finds what the ops will be made of; false where they cannot be.
  bool prepare() { return findOperands() && chooseRow() && nameDims() && checkOperands() && checkGradients(); }

  void write() {
    OpBuilder builder(scores.exponential);
    builder.setInsertionPointAfter(latest({exponential(), value.value, maskOrBias()}));
    writeForward(builder);
    if (uses.weightGradient && (uses.queryGradient || uses.keyGradient)) writeGradients(builder);
  }

 private:
  Value exponential() { return scores.exponential.getResult(); }
  Value maskOrBias() { return scores.mask ? scores.mask : scores.bias; }

  // Operands
  // -------------------------------------------------------------------------------------------------------------------

  /// Query and key, by their labels the scores' dimensions; the value from where the program reads it.
  bool findOperands() {
    llvm::SmallDenseMap<int64_t, int64_t, 8> dims;
    for (auto [label, dim] : llvm::zip(scores.matmul.getResultLabels(), scores.matmulDims)) dims[label] = dim;
    auto strip = [&](Value operand, ArrayRef<int64_t> labels) {
      SmallVector<int64_t> names;
      for (int64_t label : labels) names.push_back(dims.contains(label) ? dims[label] : kOwnLabel);
      return stripLayout(operand, names);
    };
    query = strip(scores.matmul.getLhs(), scores.matmul.getLhsLabels());
    key = strip(scores.matmul.getRhs(), scores.matmul.getRhsLabels());
    if (hasDim(query, scores.column)) std::swap(query, key);
    if (!uses.out && !uses.weightGradient) return false;
    value = uses.out ? uses.out->other : uses.weightGradient->value;
    return hasDim(key, scores.column) && !hasDim(query, scores.column) && hasDim(value, scores.column);
  }

  static bool hasDim(const LabelledValue& value, int64_t dim) { return llvm::is_contained(value.labels, dim); }

  /// The largest dimension that queries have and keys and values have not.
  bool chooseRow() {
    for (auto [dim, size] : llvm::enumerate(shape)) {
      auto candidate = static_cast<int64_t>(dim);
      bool isRow = candidate != scores.column && hasDim(query, candidate) && !hasDim(key, candidate) &&
                   !hasDim(value, candidate);
      if (isRow && (row < 0 || size >= shape[row])) row = candidate;
    }
    return row >= 0;
  }

  /// Labels of the attention ops by dimension of the exponentials.
  bool nameDims() {
    int64_t next = Form::kBatch;
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      names.push_back(dim == row ? Form::kRow : dim == scores.column ? Form::kColumn : next++);
    return true;
  }

  SmallVector<int64_t> rename(ArrayRef<int64_t> dims, int64_t own) const {
    SmallVector<int64_t> labels;
    for (int64_t dim : dims) labels.push_back(dim == kOwnLabel ? own : names[dim]);
    return labels;
  }

  /// The dimensions of a tensor are, besides its own one, just `wanted`.
  static bool hasDims(ArrayRef<int64_t> labels, SmallVector<int64_t> wanted) {
    wanted.push_back(kOwnLabel);
    SmallVector<int64_t> sorted(labels);
    llvm::sort(sorted), llvm::sort(wanted);
    return sorted == wanted;
  }
  SmallVector<int64_t> dimsWithout(int64_t left) const {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      if (dim != left) dims.push_back(dim);
    return dims;
  }
  /// Dimensions of keys and values.
  SmallVector<int64_t> keyDims() const {
    SmallVector<int64_t> dims;
    for (int64_t dim : key.labels)
      if (dim != kOwnLabel) dims.push_back(dim);
    return dims;
  }

  bool takes(Value operand) const {
    Type element = tensorType(operand).getElementType();
    return element.isF32() || element.isF16() || element.isBF16();
  }
  int64_t ownSize(const LabelledValue& operand) const {
    for (auto [label, size] : llvm::zip(operand.labels, tensorType(operand.value).getShape()))
      if (label == kOwnLabel) return size;
    return 0;
  }

  bool checkOperands() {
    if (llvm::is_contained(shape, 0)) return false;
    if (!takes(query.value) || !takes(key.value) || !takes(value.value)) return false;
    if (scores.bias && !takes(scores.bias)) return false;
    if (!hasDims(query.labels, dimsWithout(scores.column)) || llvm::count(key.labels, kOwnLabel) != 1) return false;
    if (!hasDims(value.labels, keyDims())) return false;
    if (uses.out && !hasDims(uses.out->resultLabels, dimsWithout(scores.column))) return false;
    if (uses.out && !takes(uses.out->op->getResult(0))) return false;
    return ownSize(query) >= 1 && ownSize(query) <= mostDepth && ownSize(value) >= 1 && ownSize(value) <= mostDepth;
  }

  /// The backward pass reads what the forward pass reads, and gives gradients of the same dimensions.
  bool checkGradients() {
    if (!uses.queryGradient && !uses.keyGradient && !uses.valueGradient) return uses.out.has_value();
    if (!uses.weightGradient || (!uses.queryGradient && !uses.keyGradient)) return false;
    const WeightGradient& gradient = *uses.weightGradient;
    if (!(gradient.value == value) || !hasDims(gradient.outGradient.labels, dimsWithout(scores.column))) return false;
    if (!takes(gradient.outGradient.value)) return false;
    auto fits = [&](const std::optional<SoftmaxMatmul>& matmul, const LabelledValue& other,
                    const SmallVector<int64_t>& dims) {
      return !matmul ||
             (matmul->other == other && hasDims(matmul->resultLabels, dims) && takes(matmul->op->getResult(0)));
    };
    return fits(uses.queryGradient, key, dimsWithout(scores.column)) && fits(uses.keyGradient, query, keyDims()) &&
           fits(uses.valueGradient, gradient.outGradient, keyDims());
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

  /// Columns up to the row plus this many are visible, and no others, whatever the batch index.
  std::optional<int64_t> getDiagonal() {
    if (!scores.mask || scores.fill > kMaskedScore) return std::nullopt;
    IndexBox box = getWholeBox(scores.mask);
    auto rowDim = static_cast<size_t>(llvm::find(scores.maskDims, row) - scores.maskDims.begin());
    auto columnDim = static_cast<size_t>(llvm::find(scores.maskDims, scores.column) - scores.maskDims.begin());
    auto isAll = [&](int64_t atRow, int64_t begin, int64_t end, bool visible) {
      if (begin >= end) return true;
      box[rowDim] = {atRow, 1};
      box[columnDim] = {begin, end - begin};
      return getTruth(scores.mask, box) == (visible != scores.hidesWhereTrue);
    };
    int64_t rows = shape[row], columns = shape[scores.column], visible = 0;
    while (visible < columns && isAll(0, visible, visible + 1, true)) ++visible;
    if (visible == 0) return std::nullopt;
    for (int64_t at = 0; at < rows; ++at) {
      int64_t end = std::min(columns, visible + at);
      if (!isAll(at, 0, end, true) || !isAll(at, end, columns, false)) return std::nullopt;
    }
    return visible - 1;
  }

  void prepareModifiers(OpBuilder& builder) {
    if (scores.bias) bias = narrow(builder, scores.bias, scores.biasDims);
    if (!scores.mask) return;
    diagonal = getDiagonal();
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
    for (int64_t dim : dimsWithout(scores.column))
      if (dim != row) sizes.push_back(shape[dim]);
    sizes.push_back(shape[row]);
    return sizes;
  }
  /// Labels of statistics, then the depth of values.
  SmallVector<int64_t> outLabelsInOrder() const {
    SmallVector<int64_t> labels;
    for (int64_t dim : dimsWithout(scores.column))
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
    sizes.push_back(ownSize(value));
    RankedTensorType ordered = RankedTensorType::get(sizes, tensorType(value.value).getElementType());
    state.addTypes({uses.out ? uses.out->op.getType() : ordered, statistics, statistics});
    forward = cast<fusion::AttentionOp>(builder.create(state));
    if (!uses.out) return;
    fusion::MatmulOp matmul = uses.out->op;
    matmul.getResult().replaceAllUsesWith(forward.getOut());
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
    auto replace = [](std::optional<SoftmaxMatmul>& matmul, Value by) {
      if (matmul) matmul->op.getResult().replaceAllUsesWith(by);
    };
    replace(uses.keyGradient, gradient.getKeyGradient());
    replace(uses.valueGradient, gradient.getValueGradient());
  }

  AttentionScores scores;
  SoftmaxUses uses;
  int64_t mostDepth;
  ArrayRef<int64_t> shape;  // of the exponentials
  int64_t row = -1;
  SmallVector<int64_t> names;  // labels of the ops by dimension of the exponentials
  LabelledValue query, key, value;
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
    std::optional<AttentionScores> scores = matchAttentionScores(exponential);
    if (!scores) return false;
    std::optional<SoftmaxUses> uses = findSoftmaxUses(*scores);
    if (!uses) return false;
    AttentionWriter writer(*scores, *uses, depth);
    if (!writer.prepare()) return false;
    writer.write();
    return true;
  }

  static void eraseUnused(Block& block) {
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) op.erase();
  }
};

}  // namespace
