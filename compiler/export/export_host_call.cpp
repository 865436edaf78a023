// Host calls: the handler of a process finds functions by number, and people read the name.
#include "compiler/export/export_interface.h"
#include "compiler/export/export_types.h"
#include "dialects/plan/host_call.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct HostCallExport : ExportOpInterface::ExternalModel<HostCallExport, plan::HostCallOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto call = cast<plan::HostCallOp>(op);
    artifact::HostCallT target;
    target.id = static_cast<uint64_t>(call.getId());
    target.name = call.getCallee().str();
    target.each_rank = call.getEachRank();
    if (call.getWhen()) target.when = operands.slices.getOwned(call.getWhen());
    if (failed(addTensors(op, call.getInputs(), operands, target.inputs))) return failure();
    if (failed(addTensors(op, call.getOutputs(), operands, target.outputs))) return failure();
    instruction.op.Set(std::move(target));
    return success();
  }

  static LogicalResult addTensors(Operation* op, ValueRange buffers, OperandExporter& operands,
                                  std::vector<std::unique_ptr<artifact::HostTensorT>>& tensors) {
    for (Value buffer : buffers) {
      auto type = cast<MemRefType>(buffer.getType());
      auto element = getElementType(type.getElementType(), /*isUnsigned=*/false);
      if (!element)
        return op->emitOpError() << "passes elements of " << type.getElementType()
                                 << " to the host; expected an element type of inputs and outputs; convert it";
      auto& tensor = tensors.emplace_back(std::make_unique<artifact::HostTensorT>());
      tensor->element = *element;
      tensor->dims.assign(type.getShape().begin(), type.getShape().end());
      tensor->slice = operands.slices.getOwned(buffer);
    }
    return success();
  }
};

}  // namespace

void mlir::sgd::registerHostCallExports(MLIRContext& context) {
  plan::HostCallOp::attachInterface<HostCallExport>(context);
}
