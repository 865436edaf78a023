// The artifact's tables that belong to no program, and the loop over programs.
#include "compiler/export/export.h"

#include "compiler/export/export_program.h"
#include "dialects/plan/host_call.h"
#include "dialects/sgd/tensor_names.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/plan/channels/plan_channels.h"
#include "passes/plan/memory/passes.h"

using namespace mlir;
using namespace mlir::sgd;

static uint64_t getBytes(ModuleOp plan, StringRef name) {
  auto attribute = plan->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : 0;
}

/// The stages' arenas and the channels between them; nothing for programs that all ranks run.
static LogicalResult exportStages(ModuleOp plan, ExportContext& context) {
  artifact::ArtifactT& target = context.writer.artifact();
  FailureOr<std::vector<PlanChannel>> channels = getPlanChannels(plan);
  if (failed(channels)) return failure();
  auto bytes = plan->getAttrOfType<ArrayAttr>(kStageBytesAttr);
  for (Attribute stage : bytes ? bytes.getValue() : ArrayRef<Attribute>()) {
    ArrayRef<int64_t> sizes = cast<DenseI64ArrayAttr>(stage).asArrayRef();
    target.stages.push_back(std::make_unique<artifact::StageT>());
    target.stages.back()->private_bytes = sizes[0];
    target.stages.back()->window_bytes = sizes[1];
    target.stages.back()->host_bytes = sizes.size() > 2 ? sizes[2] : 0;
  }
  for (PlanChannel& channel : *channels) {
    std::optional<uint64_t> mailbox = channel.receives.front().getMailbox();
    if (!mailbox) return channel.receives.front().emitOpError("has no mailbox; run sgd-assign-offsets first");
    context.channels[channel.program][channel.number] = static_cast<uint32_t>(target.channels.size());
    target.channels.push_back(std::make_unique<artifact::ChannelT>());
    artifact::ChannelT& exported = *target.channels.back();
    exported.from_stage = static_cast<uint32_t>(channel.fromStage);
    exported.to_stage = static_cast<uint32_t>(channel.toStage);
    exported.depth = static_cast<uint32_t>(channel.getDepth());
    exported.slot_bytes = channel.getMessageBytes();
    exported.mailbox = std::make_unique<artifact::Slice>(artifact::Space::Window, *mailbox, channel.getMailboxBytes());
  }
  return success();
}

/// Devices with streams run ahead of the host, which could not call between their instructions. Without a target the
/// plan is only looked at.
static LogicalResult checkHostCalls(ModuleOp plan, const artifact::ArtifactT& target) {
  if (target.target.empty() || target.target == "cpu") return success();
  WalkResult walked = plan.walk([](plan::HostCallOp call) {
    call.emitError() << "'" << call.getCallee()
                     << "' calls a function of the host, which programs for this target cannot do; expected a program "
                        "for CPUs; return the values from the program, or compile for CPUs";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult mlir::sgd::exportPlan(ModuleOp plan, artifact::ArtifactWriter& writer, ExportedOps* ops) {
  artifact::ArtifactT& target = writer.artifact();
  MeshOp mesh = getMesh(plan);
  ExportContext context{writer, mesh ? mesh.getMesh() : MeshAttr::get(plan.getContext(), {}), {}, {}};
  context.ops = ops;
  if (failed(checkHostCalls(plan, target)) || failed(exportStages(plan, context))) return failure();
  for (MeshAxisAttr axis : context.mesh.getAxes()) {
    target.mesh.push_back(std::make_unique<artifact::MeshAxisT>());
    target.mesh.back()->name = axis.getName().str();
    target.mesh.back()->size = axis.getSize();
  }
  for (auto kernel : plan.getOps<plan::KernelOp>()) {
    context.kernels[kernel.getSymName()] = target.kernels.size();
    target.kernels.push_back(std::make_unique<artifact::KernelT>());
    target.kernels.back()->symbol = kernel.getSymName().str();
  }
  for (auto function : plan.getOps<func::FuncOp>())
    for (unsigned result = 0; !function.isPrivate() && result < function.getNumResults(); ++result)
      if (std::optional<unsigned> argument = getCarriedArgument(function, result))
        context.stateNames.insert(getInputName(function, *argument));
  for (auto function : plan.getOps<func::FuncOp>()) {
    if (function.isPrivate()) continue;  // a part of the program that calls it
    if (ops) ops->emplace_back();
    FailureOr<std::unique_ptr<artifact::ProgramT>> program = exportProgram(function, context);
    if (failed(program)) return failure();
    target.programs.push_back(std::move(*program));
  }
  target.private_bytes = getBytes(plan, kPrivateBytesAttr);
  target.window_bytes = getBytes(plan, kWindowBytesAttr);
  target.host_bytes = getBytes(plan, kHostBytesAttr);
  return success();
}

void mlir::sgd::exportDevice(const Topology& topology, artifact::ArtifactT& target) {
  target.device = std::make_unique<artifact::DeviceModelT>();
  target.device->name = topology.name;
  target.device->flops = topology.device.flops;
  target.device->half_flops = topology.device.halfFlops;
  target.device->memory_bandwidth = topology.device.memoryBandwidth;
}
