// The artifact's tables that belong to no program, and the loop over programs.
#include "compiler/export/export.h"

#include "compiler/export/export_program.h"
#include "passes/carry/carry_attrs.h"
#include "passes/memory/passes.h"

using namespace mlir;
using namespace mlir::sgd;

static uint64_t getBytes(ModuleOp plan, StringRef name) {
  auto attribute = plan->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : 0;
}

LogicalResult mlir::sgd::exportPlan(ModuleOp plan, artifact::ArtifactWriter& writer) {
  artifact::ArtifactT& target = writer.artifact();
  MeshOp mesh = getMesh(plan);
  ExportContext context{writer, mesh ? mesh.getMesh() : MeshAttr::get(plan.getContext(), {}), {}, {}};
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
    FailureOr<std::unique_ptr<artifact::ProgramT>> program = exportProgram(function, context);
    if (failed(program)) return failure();
    target.programs.push_back(std::move(*program));
  }
  target.private_bytes = getBytes(plan, kPrivateBytesAttr);
  target.window_bytes = getBytes(plan, kWindowBytesAttr);
  return success();
}

void mlir::sgd::exportDevice(const Topology& topology, artifact::ArtifactT& target) {
  target.device = std::make_unique<artifact::DeviceModelT>();
  target.device->name = topology.name;
  target.device->flops = topology.device.flops;
  target.device->half_flops = topology.device.halfFlops;
  target.device->memory_bandwidth = topology.device.memoryBandwidth;
}
