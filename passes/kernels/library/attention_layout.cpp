// Batch dimensions that the key has become batches, then heads of keys; those that it has not are the minor heads.
#include "passes/kernels/library/attention_layout.h"

#include "dialects/fusion/fusion_dialect.h"
using namespace mlir;
using namespace mlir::sgd;

using Form = fusion::AttentionOpInterface;

namespace {

/// Elements from one index of `label` to the next; 0 where the tensor has it not.
int64_t strideOf(const LabelledTensorType& tensor, int64_t label) {
  int64_t stride = 1;
  for (size_t dim = tensor.labels.size(); dim-- > 0;) {
    if (tensor.labels[dim] == label) return stride;
    stride *= tensor.type.getDimSize(static_cast<unsigned>(dim));
  }
  return 0;
}

LabelledTensorType labelled(Value value, ArrayRef<int64_t> labels) {
  return {cast<RankedTensorType>(value.getType()), SmallVector<int64_t>(labels)};
}

class LayoutFinder {
 public:
  explicit LayoutFinder(Form op) : op(op), sizes(fusion::getAttentionSizes(op)) {
    for (int64_t label = Form::kBatch; label < static_cast<int64_t>(sizes.size()); ++label) {
      bool isKeys = llvm::is_contained(op.getKeyLabels(), label);
      inOrder &= !isKeys || groups.empty();
      (isKeys ? keys : groups).push_back(label);
    }
  }

  /// `depth`: the label whose elements are contiguous. All labels of heads are the tensor's, or those of keys alone.
  void add(Value value, ArrayRef<int64_t> labels, int64_t row, int64_t depth) {
    tensors.push_back({labelled(value, labels), row, depth});
  }

  std::optional<AttentionLayout> find() {
    if (!inOrder || !haveOneType()) return std::nullopt;
    // Heads are the last of the dimensions, unless these can only be merged.
    for (size_t batches = keys.empty() ? 0 : keys.size() - 1;; --batches) {
      if (std::optional<AttentionLayout> layout = tryBatches(batches)) return layout;
      if (batches == 0) break;
    }
    return tryBatches(keys.size());
  }

 private:
  struct Tensor {
    LabelledTensorType tensor;
    int64_t row, depth;
  };

  bool haveOneType() {
    Type element = getElementTypeOrSelf(op.getQuery().getType());
    if (!element.isF16() && !element.isBF16()) return false;
    return llvm::all_of(tensors, [&](const Tensor& entry) { return entry.tensor.type.getElementType() == element; });
  }

  /// One stride for all of `labels`, the last one minor: nullopt where they cannot be merged into one dimension. Labels
  /// that the tensor has not, all of them, have 0.
  std::optional<int64_t> merge(const LabelledTensorType& tensor, ArrayRef<int64_t> labels) const {
    int64_t stride = -1, next = 0;
    for (int64_t label : llvm::reverse(labels)) {
      if (sizes[label] == 1) continue;
      int64_t own = strideOf(tensor, label);
      if (stride >= 0 && own != next) return std::nullopt;
      if (stride < 0) stride = own;
      next = own * sizes[label];
    }
    return std::max<int64_t>(stride, 0);
  }

  int64_t countOf(ArrayRef<int64_t> labels) const {
    int64_t count = 1;
    for (int64_t label : labels) count *= sizes[label];
    return count;
  }

  /// Strides of batch, head and row; false where there are none.
  bool addStrides(const LabelledTensorType& tensor, ArrayRef<int64_t> batches, ArrayRef<int64_t> heads, int64_t row,
                  SmallVector<int64_t>& strides) const {
    std::optional<int64_t> batch = merge(tensor, batches), head = merge(tensor, heads);
    if (!batch || !head) return false;
    strides.append({*batch, *head, strideOf(tensor, row)});
    return true;
  }

  std::optional<AttentionLayout> tryBatches(size_t count) {
    ArrayRef<int64_t> batches = ArrayRef(keys).take_front(count), keyHeads = ArrayRef(keys).drop_front(count);
    SmallVector<int64_t> heads(keyHeads);
    llvm::append_range(heads, groups);
    AttentionLayout layout;
    for (const Tensor& entry : tensors) {
      bool isKeys = entry.row == Form::kColumn;
      if (strideOf(entry.tensor, entry.depth) != 1 ||
          !addStrides(entry.tensor, batches, isKeys ? keyHeads : ArrayRef<int64_t>(heads), entry.row, layout.strides))
        return std::nullopt;
    }
    AttentionCall& call = layout.call;
    call.element = getElementTypeOrSelf(op.getQuery().getType());
    call.batch = countOf(batches), call.heads = countOf(heads), call.keyHeads = countOf(keyHeads);
    call.rows = sizes[Form::kRow], call.columns = sizes[Form::kColumn];
    call.depth = sizes[Form::kDepth], call.valueDepth = sizes[Form::kValueDepth];
    if (op.getDiagonal()) call.diagonal = static_cast<int64_t>(*op.getDiagonal());
    if (!op.getBias()) return layout;
    LabelledTensorType bias = labelled(op.getBias(), *op.getBiasLabels());
    call.biasElement = bias.type.getElementType();
    bool fits = strideOf(bias, Form::kColumn) == 1 && (call.biasElement == call.element || call.biasElement.isF32());
    if (!fits || !addStrides(bias, batches, heads, Form::kRow, layout.biasStrides)) return std::nullopt;
    return layout;
  }

  Form op;
  SmallVector<int64_t> sizes;         // by label
  SmallVector<int64_t> keys, groups;  // batch labels that the key has, and those that it has not
  bool inOrder = true;
  SmallVector<Tensor> tensors;
};

template <typename OpTy>
LayoutFinder startWith(OpTy op) {
  LayoutFinder finder(op);
  finder.add(op.getQuery(), op.getQueryLabels(), Form::kRow, Form::kDepth);
  finder.add(op.getKey(), op.getKeyLabels(), Form::kColumn, Form::kDepth);
  finder.add(op.getValue(), op.getValueLabels(), Form::kColumn, Form::kValueDepth);
  finder.add(op.getOut(), op.getOutLabels(), Form::kRow, Form::kValueDepth);
  return finder;
}

}  // namespace

std::optional<AttentionLayout> mlir::sgd::getLayout(fusion::LibraryAttentionOp op) { return startWith(op).find(); }

std::optional<AttentionLayout> mlir::sgd::getLayout(fusion::LibraryAttentionGradientOp op) {
  LayoutFinder finder = startWith(op);
  finder.add(op.getOutGradient(), op.getOutGradientLabels(), Form::kRow, Form::kValueDepth);
  finder.add(op.getQueryGradient(), op.getQueryGradientLabels(), Form::kRow, Form::kDepth);
  finder.add(op.getKeyGradient(), op.getKeyGradientLabels(), Form::kColumn, Form::kDepth);
  finder.add(op.getValueGradient(), op.getValueGradientLabels(), Form::kColumn, Form::kValueDepth);
  std::optional<AttentionLayout> layout = finder.find();
  if (layout) layout->call.isGradient = true;
  return layout;
}
