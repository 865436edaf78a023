// Verifiers of plan.attention and its gradient: no tensor reaches outside of its buffer.
#include "dialects/plan/attention.h"

using namespace mlir;
using namespace mlir::plan;

#define GET_OP_CLASSES
#include "dialects/plan/attention_ops.cpp.inc"

namespace {

/// A tensor of the op: what it is called, and its sizes [batch, heads, rows, depth].
struct AttentionTensor {
  StringRef name;
  Value buffer;
  SmallVector<int64_t, 4> sizes;
};

/// The sizes of both ops by name.
struct Sizes {
  explicit Sizes(ArrayRef<int64_t> sizes)
      : batch(sizes[0]),
        heads(sizes[1]),
        keyHeads(sizes[2]),
        rows(sizes[3]),
        columns(sizes[4]),
        depth(sizes[5]),
        valueDepth(sizes[6]) {}

  AttentionTensor query(StringRef name, Value buffer) const { return {name, buffer, {batch, heads, rows, depth}}; }
  AttentionTensor key(StringRef name, Value buffer) const { return {name, buffer, {batch, keyHeads, columns, depth}}; }
  AttentionTensor value(StringRef name, Value buffer) const {
    return {name, buffer, {batch, keyHeads, columns, valueDepth}};
  }
  AttentionTensor out(StringRef name, Value buffer) const { return {name, buffer, {batch, heads, rows, valueDepth}}; }

  int64_t batch, heads, keyHeads, rows, columns, depth, valueDepth;
};

}  // namespace

static Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

static LogicalResult verifyTensor(Operation* op, const AttentionTensor& tensor, ArrayRef<int64_t> strides) {
  int64_t last = tensor.sizes[3] - 1;
  for (auto [size, stride] : llvm::zip(tensor.sizes, strides)) {
    if (stride < 0) return op->emitOpError() << tensor.name << " has a negative stride";
    last += (size - 1) * stride;
  }
  int64_t elements = cast<MemRefType>(tensor.buffer.getType()).getNumElements();
  if (last >= elements) return op->emitOpError() << tensor.name << " reaches element " << last << " of " << elements;
  return success();
}

/// Verifies the constraints of both ops; `tensors` are those that `layouts` describes, in its order.
template <typename OpTy>
static LogicalResult verifyAttention(OpTy op, ArrayRef<AttentionTensor> tensors) {
  Sizes sizes(op.getSizes());
  if (sizes.heads % sizes.keyHeads != 0) return op.emitOpError("has heads that those of keys do not divide");
  Type element = op.getQuery().getType().getElementType();
  if (!element.isF16() && !element.isBF16()) return op.emitOpError("is of f16 and bf16 alone");
  if (op.getLayouts().size() != 3 * tensors.size())
    return op.emitOpError() << "needs " << 3 * tensors.size() << " strides in its layouts";
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    if (elementOf(tensor.buffer) != element) return op.emitOpError("has operands of different types");
    if (failed(verifyTensor(op, tensor, op.getLayout(index)))) return failure();
  }
  if (!elementOf(op.getLogSum()).isF32() ||
      op.getLogSum().getType().getNumElements() != sizes.batch * sizes.heads * sizes.rows)
    return op.emitOpError() << "needs a log_sum of " << sizes.batch * sizes.heads * sizes.rows << " elements of f32";
  ArrayRef<int64_t> steps = op.getSteps();
  if (steps.size() != 2 || steps[0] < 1 || steps[1] < 1 || sizes.batch % steps[0] != 0 || sizes.heads % steps[1] != 0 ||
      steps[1] % (sizes.heads / sizes.keyHeads) != 0)
    return op.emitOpError("needs steps that divide batch and heads, with whole heads of keys");
  if (static_cast<bool>(op.getBias()) != op.getBiasLayout().has_value())
    return op.emitOpError("needs a layout with a bias, and none without");
  if (!op.getBias()) return success();
  if (op.getBiasLayout()->size() != 3) return op.emitOpError("needs strides of batch, head and row of its bias");
  if (elementOf(op.getBias()) != element && !elementOf(op.getBias()).isF32())
    return op.emitOpError("needs a bias of f32 or of the operands' type");
  return verifyTensor(op, {"bias", op.getBias(), {sizes.batch, sizes.heads, sizes.rows, sizes.columns}},
                      *op.getBiasLayout());
}

static LogicalResult verifySizes(Operation* op, ArrayRef<int64_t> sizes) {
  if (sizes.size() != 7 || llvm::any_of(sizes, [](int64_t size) { return size < 1; }))
    return op->emitOpError("needs seven positive sizes");
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifySizes(*this, getSizes()))) return failure();
  Sizes sizes(getSizes());
  return verifyAttention(*this, {sizes.query("query", getQuery()), sizes.key("key", getKey()),
                                 sizes.value("value", getValue()), sizes.out("out", getOut())});
}

LogicalResult AttentionGradientOp::verify() {
  if (failed(verifySizes(*this, getSizes()))) return failure();
  Sizes sizes(getSizes());
  return verifyAttention(
      *this, {sizes.query("query", getQuery()), sizes.key("key", getKey()), sizes.value("value", getValue()),
              sizes.out("out", getOut()), sizes.out("the gradient of out", getOutGradient()),
              sizes.query("the gradient of the query", getQueryGradient()),
              sizes.key("the gradient of the key", getKeyGradient()),
              sizes.value("the gradient of the value", getValueGradient())});
}

static double countProducts(const Sizes& sizes, int64_t depths) {
  return static_cast<double>(sizes.batch * sizes.heads) * static_cast<double>(sizes.rows) *
         static_cast<double>(sizes.columns) * static_cast<double>(depths);
}

double AttentionOp::getProducts() {
  Sizes sizes(getSizes());
  return countProducts(sizes, sizes.depth + sizes.valueDepth);
}

double AttentionGradientOp::getProducts() {
  Sizes sizes(getSizes());
  return countProducts(sizes, 3 * sizes.depth + 2 * sizes.valueDepth);
}

/// Writes `tensor` to `operand`, all of which it may be: elements are written once each.
static void write(EffectBuilder& effects, OpOperand& operand, const AttentionTensor& tensor) {
  effects.write(operand,
                ShapedType::getNumElements(tensor.sizes) == cast<MemRefType>(operand.get().getType()).getNumElements());
}

using MemoryEffectList = SmallVectorImpl<MemoryEffects::EffectInstance>;

void AttentionOp::getEffects(MemoryEffectList& list) {
  EffectBuilder effects(list);
  Sizes sizes(getSizes());
  for (OpOperand* operand : {&getQueryMutable(), &getKeyMutable(), &getValueMutable()}) effects.read(*operand);
  effects.read(getBiasMutable());
  write(effects, getOutMutable(), sizes.out("out", getOut()));
  effects.write(getLogSumMutable());
  effects.write(getWorkspaceMutable());
}

void AttentionGradientOp::getEffects(MemoryEffectList& list) {
  EffectBuilder effects(list);
  Sizes sizes(getSizes());
  for (OpOperand* operand : {&getQueryMutable(), &getKeyMutable(), &getValueMutable(), &getOutMutable(),
                             &getOutGradientMutable(), &getLogSumMutable()})
    effects.read(*operand);
  effects.read(getBiasMutable());
  write(effects, getQueryGradientMutable(), sizes.query("", getQueryGradient()));
  write(effects, getKeyGradientMutable(), sizes.key("", getKeyGradient()));
  write(effects, getValueGradientMutable(), sizes.value("", getValueGradient()));
  effects.write(getWorkspaceMutable());
}
