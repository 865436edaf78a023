// Layouts are those that the pass which made the op has checked.
#include "passes/plan/lowering/lower_attention.h"

#include "passes/plan/lowering/call_buffers.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/plan/attention.h"
#include "passes/kernels/library/attention_layout.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Makes either instruction from an op and its layout.
template <typename OpTy>
class AttentionCreator {
 public:
  AttentionCreator(OpBuilder& builder, OpTy op, const AttentionLayout& layout)
      : builder(builder), op(op), layout(layout) {
    const AttentionCall& call = layout.call;
    sizes = {call.batch, call.heads, call.keyHeads, call.rows, call.columns, call.depth, call.valueDepth};
    steps = op.getSteps() ? SmallVector<int64_t>(*op.getSteps()) : SmallVector<int64_t>{call.batch, call.heads};
  }

  void createForward(ArrayRef<Value> in, ArrayRef<Value> out) {
    plan::AttentionOp::create(builder, op.getLoc(), in[0], in[1], in[2], out[0], out[1], op.getBias() ? in[3] : Value(),
                              createWorkspace(builder, op.getLoc(), op.getWorkspaceBytes()), sizes, layout.strides,
                              getBiasLayout(), steps, op.getScale(), op.getDiagonalAttr());
  }

  void createGradient(ArrayRef<Value> in, ArrayRef<Value> out) {
    plan::AttentionGradientOp::create(builder, op.getLoc(), in[0], in[1], in[2], in[3], in[4], in[5], out[0], out[1],
                                      out[2], op.getBias() ? in[6] : Value(),
                                      createWorkspace(builder, op.getLoc(), op.getWorkspaceBytes()), sizes,
                                      layout.strides, getBiasLayout(), steps, op.getScale(), op.getDiagonalAttr());
  }

 private:
  DenseI64ArrayAttr getBiasLayout() {
    return layout.biasStrides.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(layout.biasStrides);
  }

  OpBuilder& builder;
  OpTy op;
  const AttentionLayout& layout;
  SmallVector<int64_t> sizes, steps;
};

}  // namespace

LogicalResult mlir::sgd::createAttention(OpBuilder& builder, Operation* op, ArrayRef<Value> inputs,
                                         ArrayRef<Value> outputs) {
  auto forward = dyn_cast<fusion::LibraryAttentionOp>(op);
  auto gradient = dyn_cast<fusion::LibraryAttentionGradientOp>(op);
  std::optional<AttentionLayout> layout = forward ? getLayout(forward) : getLayout(gradient);
  if (!layout) return op->emitOpError("has no layout of batches and heads that libraries know");
  if (forward)
    AttentionCreator(builder, forward, *layout).createForward(inputs, outputs);
  else
    AttentionCreator(builder, gradient, *layout).createGradient(inputs, outputs);
  return success();
}
