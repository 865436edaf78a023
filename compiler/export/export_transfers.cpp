// Copies, fills, the ends of collectives, and messages.
#include "compiler/export/export_interface.h"
#include "dialects/plan/host_copy.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Of copies on the device, and between it and its host: their slices' spaces tell them apart.
template <class Op>
struct CopyExport : ExportOpInterface::ExternalModel<CopyExport<Op>, Op> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto copy = cast<Op>(op);
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

struct SendExport : ExportOpInterface::ExternalModel<SendExport, plan::SendOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto send = cast<plan::SendOp>(op);
    artifact::SendT target;
    target.channel = operands.channels.lookup(send.getChannel());
    target.source = operands.slices.getOwned(send.getSource());
    instruction.op.Set(std::move(target));
    return success();
  }
};

struct ReceiveExport : ExportOpInterface::ExternalModel<ReceiveExport, plan::ReceiveOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto receive = cast<plan::ReceiveOp>(op);
    artifact::ReceiveT target;
    target.channel = operands.channels.lookup(receive.getChannel());
    target.target = operands.slices.getOwned(receive.getTarget());
    instruction.op.Set(std::move(target));
    return success();
  }
};

}  // namespace

void mlir::sgd::registerTransferExports(MLIRContext& context) {
  plan::CopyOp::attachInterface<CopyExport<plan::CopyOp>>(context);
  plan::HostCopyOp::attachInterface<CopyExport<plan::HostCopyOp>>(context);
  plan::FillOp::attachInterface<FillExport>(context);
  plan::DoneOp::attachInterface<DoneExport>(context);
  plan::SendOp::attachInterface<SendExport>(context);
  plan::ReceiveOp::attachInterface<ReceiveExport>(context);
}
