// Tensors are those of the plan's layouts, in its order.
#include "compiler/export/export_interface.h"
#include "dialects/plan/attention.h"

using namespace mlir;
using namespace mlir::sgd;

static std::unique_ptr<artifact::AttentionTensor> getTensor(SliceExporter& slices, Value buffer,
                                                            ArrayRef<int64_t> layout) {
  return std::make_unique<artifact::AttentionTensor>(slices.get(buffer), layout[0], layout[1], layout[2]);
}

/// Exports the fields that forward and backward share.
template <typename OpTy>
static FailureOr<artifact::AttentionT> exportForm(OpTy op, SliceExporter& slices) {
  artifact::AttentionT target;
  auto element = getElementType(op.getQuery().getType().getElementType(), /*isUnsigned=*/false);
  if (!element) return op.emitOpError("has an element type that artifacts do not have");
  ArrayRef<int64_t> sizes = op.getSizes();
  target.element = *element;
  target.batch = sizes[0], target.heads = sizes[1], target.key_heads = sizes[2];
  target.rows = sizes[3], target.columns = sizes[4], target.depth = sizes[5], target.value_depth = sizes[6];
  target.scale = static_cast<float>(op.getScale().convertToDouble());
  target.has_diagonal = op.getDiagonal().has_value();
  target.diagonal = op.getDiagonal().value_or(0);
  target.query = getTensor(slices, op.getQuery(), op.getLayout(0));
  target.key = getTensor(slices, op.getKey(), op.getLayout(1));
  target.value = getTensor(slices, op.getValue(), op.getLayout(2));
  target.out = getTensor(slices, op.getOut(), op.getLayout(3));
  target.log_sum = slices.getOwned(op.getLogSum());
  if (auto bias = op.getBias()) {
    target.bias = getTensor(slices, bias, *op.getBiasLayout());
    target.bias_element = bias.getType().getElementType().isF32() ? artifact::ElementType::F32 : *element;
  }
  target.batch_step = op.getSteps()[0], target.head_step = op.getSteps()[1];
  if (op.getWorkspace()) target.workspace = slices.getOwned(op.getWorkspace());
  return target;
}

namespace {

struct AttentionExport : ExportOpInterface::ExternalModel<AttentionExport, plan::AttentionOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    FailureOr<artifact::AttentionT> target = exportForm(cast<plan::AttentionOp>(op), operands.slices);
    if (failed(target)) return failure();
    instruction.op.Set(std::move(*target));
    return success();
  }
};

struct AttentionGradientExport : ExportOpInterface::ExternalModel<AttentionGradientExport, plan::AttentionGradientOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto gradient = cast<plan::AttentionGradientOp>(op);
    SliceExporter& slices = operands.slices;
    FailureOr<artifact::AttentionT> target = exportForm(gradient, slices);
    if (failed(target)) return failure();
    target->gradients = std::make_unique<artifact::AttentionGradientsT>();
    artifact::AttentionGradientsT& gradients = *target->gradients;
    gradients.out_gradient = getTensor(slices, gradient.getOutGradient(), gradient.getLayout(4));
    gradients.query = getTensor(slices, gradient.getQueryGradient(), gradient.getLayout(5));
    gradients.key = getTensor(slices, gradient.getKeyGradient(), gradient.getLayout(6));
    gradients.value = getTensor(slices, gradient.getValueGradient(), gradient.getLayout(7));
    instruction.op.Set(std::move(*target));
    return success();
  }
};

}  // namespace

void mlir::sgd::registerAttentionExports(MLIRContext& context) {
  plan::AttentionOp::attachInterface<AttentionExport>(context);
  plan::AttentionGradientOp::attachInterface<AttentionGradientExport>(context);
}
