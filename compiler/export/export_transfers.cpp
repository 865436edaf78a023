// Copies, fills, and the ends of collectives.
#include "compiler/export/export_interface.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct CopyExport : ExportOpInterface::ExternalModel<CopyExport, plan::CopyOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto copy = cast<plan::CopyOp>(op);
    artifact::CopyT target;
    target.source = operands.slices.getOwned(copy.getSource());
    target.target = operands.slices.getOwned(copy.getTarget());
    instruction.op.Set(std::move(target));
    return success();
  }
};

struct FillExport : ExportOpInterface::ExternalModel<FillExport, plan::FillOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto fill = cast<plan::FillOp>(op);
    artifact::FillT target;
    target.target = operands.slices.getOwned(fill.getTarget());
    target.pattern = getPattern(fill.getValue());
    instruction.op.Set(std::move(target));
    return success();
  }
};

struct DoneExport : ExportOpInterface::ExternalModel<DoneExport, plan::DoneOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    artifact::DoneT target;
    target.start = operands.starts.lookup(cast<plan::DoneOp>(op).getCollective());
    instruction.op.Set(std::move(target));
    return success();
  }
};

}  // namespace

void mlir::sgd::registerTransferExports(MLIRContext& context) {
  plan::CopyOp::attachInterface<CopyExport>(context);
  plan::FillOp::attachInterface<FillExport>(context);
  plan::DoneOp::attachInterface<DoneExport>(context);
}
