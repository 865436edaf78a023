// Verifiers of attention and its gradients: labels name dimensions of one size each, and each tensor has those it must.
#include "dialects/fusion/attention.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fusion;
using mlir::sgd::shapeOf;

#include "dialects/fusion/attention_interface.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/fusion/attention_ops.cpp.inc"

using Form = AttentionOpInterface;

static void addSizes(Value value, ArrayRef<int64_t> labels, SmallVector<int64_t>& sizes) {
  for (auto [label, size] : llvm::zip(labels, shapeOf(value))) {
    if (label < 0) continue;
    if (sizes.size() <= static_cast<size_t>(label)) sizes.resize(label + 1, 0);
    if (sizes[label] == 0) sizes[label] = size;
  }
}

SmallVector<int64_t> mlir::fusion::getAttentionSizes(Form op) {
  SmallVector<int64_t> sizes(Form::kBatch, 0);
  addSizes(op.getQuery(), op.getQueryLabels(), sizes);
  addSizes(op.getKey(), op.getKeyLabels(), sizes);
  addSizes(op.getValue(), op.getValueLabels(), sizes);
  return sizes;
}

SmallVector<int64_t> mlir::fusion::getRowStatisticsShape(Form op) {
  SmallVector<int64_t> sizes = getAttentionSizes(op);
  SmallVector<int64_t> shape(ArrayRef(sizes).drop_front(Form::kBatch));
  shape.push_back(sizes[Form::kRow]);
  return shape;
}

/// The labels that a tensor may and must have, besides batch dimensions.
struct LabelRule {
  SmallVector<int64_t, 2> required, allowed;
};

static LogicalResult verifyTensor(Form op, StringRef name, Value value, ArrayRef<int64_t> labels,
                                  ArrayRef<int64_t> sizes, const LabelRule& rule) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() != static_cast<int64_t>(labels.size()))
    return op->emitOpError() << name << " has " << type.getRank() << " dimensions and " << labels.size() << " labels";
  SmallVector<int64_t> seen;
  for (auto [label, size] : llvm::zip(labels, type.getShape())) {
    bool isBatch = label >= Form::kBatch && label < static_cast<int64_t>(sizes.size());
    if (!isBatch && !llvm::is_contained(rule.required, label) && !llvm::is_contained(rule.allowed, label))
      return op->emitOpError() << name << " cannot have a dimension with label " << label;
    if (llvm::is_contained(seen, label)) return op->emitOpError() << name << " has label " << label << " twice";
    if (size != sizes[label])
      return op->emitOpError() << name << " has " << size << " elements along label " << label << ", others "
                               << sizes[label];
    seen.push_back(label);
  }
  for (int64_t label : rule.required)
    if (!llvm::is_contained(seen, label)) return op->emitOpError() << name << " needs label " << label;
  return success();
}

static SmallVector<int64_t> batchOf(ArrayRef<int64_t> labels) {
  SmallVector<int64_t> batch;
  for (int64_t label : labels)
    if (label >= Form::kBatch) batch.push_back(label);
  llvm::sort(batch);
  return batch;
}

static LogicalResult verifyMask(Form op, ArrayRef<int64_t> sizes) {
  bool hasMask = static_cast<bool>(op.getMask());
  if (hasMask != op.getMaskLabels().has_value() || hasMask != op.getFill().has_value())
    return op->emitOpError("needs labels and a fill with a mask, and none without");
  if (static_cast<bool>(op.getBias()) != op.getBiasLabels().has_value())
    return op->emitOpError("needs labels with a bias, and none without");
  LabelRule rule{{}, {Form::kRow, Form::kColumn}};
  if (op.getBias() && failed(verifyTensor(op, "bias", op.getBias(), *op.getBiasLabels(), sizes, rule)))
    return failure();
  if (!hasMask) return success();
  if (!getElementTypeOrSelf(op.getMask().getType()).isInteger(1)) return op->emitOpError("needs a mask of booleans");
  return verifyTensor(op, "mask", op.getMask(), *op.getMaskLabels(), sizes, rule);
}

/// The operands that forward and backward share, and `out` or its gradient.
static LogicalResult verifyForm(Form op, Value out) {
  SmallVector<int64_t> sizes = getAttentionSizes(op);
  for (Value value : {op.getQuery(), op.getKey(), op.getValue(), out, op.getBias()})
    if (value && !isa<FloatType>(getElementTypeOrSelf(value.getType()))) return op->emitOpError("is of floats alone");
  if (llvm::is_contained(sizes, 0))
    return op->emitOpError("needs all labels up to the last batch dimension, not empty");
  if (failed(verifyTensor(op, "query", op.getQuery(), op.getQueryLabels(), sizes, {{Form::kRow, Form::kDepth}, {}})) ||
      failed(verifyTensor(op, "key", op.getKey(), op.getKeyLabels(), sizes, {{Form::kColumn, Form::kDepth}, {}})) ||
      failed(verifyTensor(op, "value", op.getValue(), op.getValueLabels(), sizes,
                          {{Form::kColumn, Form::kValueDepth}, {}})) ||
      failed(verifyTensor(op, "out", out, op.getOutLabels(), sizes, {{Form::kRow, Form::kValueDepth}, {}})))
    return failure();
  if (batchOf(op.getKeyLabels()) != batchOf(op.getValueLabels()))
    return op->emitOpError("key and value differ in their batch dimensions");
  size_t batches = sizes.size() - Form::kBatch;
  if (batchOf(op.getQueryLabels()).size() != batches || batchOf(op.getOutLabels()).size() != batches)
    return op->emitOpError("query and out need all batch dimensions");
  if (op.getDiagonal() && static_cast<int64_t>(*op.getDiagonal()) < 0)
    return op->emitOpError("the diagonal leaves rows without a column");
  return verifyMask(op, sizes);
}

static LogicalResult verifyStatistics(Form op, ValueRange values) {
  for (Value value : values)
    if (shapeOf(value) != ArrayRef(getRowStatisticsShape(op)) || !getElementTypeOrSelf(value.getType()).isF32())
      return op->emitOpError() << "needs f32 of shape [" << getRowStatisticsShape(op) << "] for each statistic of rows";
  return success();
}

static LogicalResult verifyGradient(Form op, Value gradient, ArrayRef<int64_t> labels, const LabelRule& rule,
                                    ArrayRef<int64_t> likeLabels) {
  if (failed(verifyTensor(op, "gradient", gradient, labels, getAttentionSizes(op), rule))) return failure();
  if (batchOf(labels) != batchOf(likeLabels))
    return op->emitOpError("a gradient has other batch dimensions than its operand");
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyForm(*this, getOut()))) return failure();
  return verifyStatistics(*this, {getRowMax(), getRowSum()});
}

LogicalResult AttentionQueryGradientOp::verify() {
  if (failed(verifyForm(*this, getOutGradient())) ||
      failed(verifyStatistics(*this, {getRowMax(), getRowSum(), getRowDot()})))
    return failure();
  return verifyGradient(*this, getGradient(), getGradientLabels(), {{kRow, kDepth}, {}}, getQueryLabels());
}

LogicalResult AttentionKeyGradientOp::verify() {
  if (failed(verifyForm(*this, getOutGradient())) ||
      failed(verifyStatistics(*this, {getRowMax(), getRowSum(), getRowDot()})) ||
      failed(verifyGradient(*this, getKeyGradient(), getKeyGradientLabels(), {{kColumn, kDepth}, {}}, getKeyLabels())))
    return failure();
  return verifyGradient(*this, getValueGradient(), getValueGradientLabels(), {{kColumn, kValueDepth}, {}},
                        getValueLabels());
}

LogicalResult LibraryAttentionOp::verify() {
  if (getMask()) return emitOpError("takes no mask");
  if (failed(verifyForm(*this, getOut()))) return failure();
  return verifyStatistics(*this, {getLogSum()});
}

LogicalResult LibraryAttentionGradientOp::verify() {
  if (getMask()) return emitOpError("takes no mask");
  if (failed(verifyForm(*this, getOut())) || failed(verifyStatistics(*this, {getLogSum()}))) return failure();
  const LabelRule rows = {{kRow, kDepth}, {}}, keys = {{kColumn, kDepth}, {}}, values = {{kColumn, kValueDepth}, {}};
  if (failed(verifyTensor(*this, "the gradient of out", getOutGradient(), getOutGradientLabels(),
                          getAttentionSizes(*this), {{kRow, kValueDepth}, {}})) ||
      failed(verifyGradient(*this, getQueryGradient(), getQueryGradientLabels(), rows, getQueryLabels())) ||
      failed(verifyGradient(*this, getKeyGradient(), getKeyGradientLabels(), keys, getKeyLabels())))
    return failure();
  return verifyGradient(*this, getValueGradient(), getValueGradientLabels(), values, getValueLabels());
}
