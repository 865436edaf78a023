// Sizes and options are those of the plan's op.
#include "compiler/export/export_enums.h"
#include "compiler/export/export_interface.h"
#include "dialects/plan/linear_algebra.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct LinearAlgebraExport : ExportOpInterface::ExternalModel<LinearAlgebraExport, plan::LinearAlgebraOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto call = cast<plan::LinearAlgebraOp>(op);
    artifact::LinearAlgebraT target;
    target.kind = getArtifactKind(call.getKind());
    target.options = getLinearAlgebraOptions(call);
    unsigned main = linear_algebra::OperandsOf(call.getForm().kind, target.options).main;
    bool isDouble = cast<MemRefType>(call.getInputs()[main].getType()).getElementType().isF64();
    target.element = isDouble ? artifact::ElementType::F64 : artifact::ElementType::F32;
    target.batch = call.getBatch();
    target.m = call.getSizes()[0], target.n = call.getSizes()[1], target.k = call.getSizes()[2];
    for (Value input : call.getInputs()) target.inputs.push_back(operands.slices.get(input));
    for (Value output : call.getOutputs()) target.outputs.push_back(operands.slices.get(output));
    target.lanes = call.getLanes();
    if (call.getWorkspace()) target.workspace = operands.slices.getOwned(call.getWorkspace());
    instruction.op.Set(std::move(target));
    return success();
  }
};

}  // namespace

void mlir::sgd::registerLinearAlgebraExports(MLIRContext& context) {
  plan::LinearAlgebraOp::attachInterface<LinearAlgebraExport>(context);
}
