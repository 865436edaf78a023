// The packed form is that of an artifact, of which nothing is checked: it was made here.
#include "compiler/report/planned_step.h"

#include "compiler/export/export.h"
#include "compiler/report/report.h"
#include "compiler/simulation/timed_program.h"
#include "dialects/sgd/stages.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

FailureOr<StepTimes> mlir::sgd::timeStep(ModuleOp plan, const artifact::ArtifactT& exported, const Topology& topology) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Artifact::Pack(builder, &exported));
  const auto& root = *flatbuffers::GetRoot<artifact::Artifact>(builder.GetBufferPointer());
  func::FuncOp function = getReportedFunction(plan);
  Machine machine = llvm::cantFail(Machine::create(root, "the plan", topology, /*sizes=*/{}));
  llvm::Expected<TimedStep> step = timeStep(machine, getProgramName(function));
  if (!step) return function.emitError() << "cannot time a step: " << llvm::toString(step.takeError());
  return std::move(step->times);
}

FailureOr<StepTimes> mlir::sgd::timeStep(ModuleOp plan, StringRef target, const Topology& topology) {
  artifact::ArtifactWriter writer;
  writer.artifact().target = target.str();
  if (failed(exportPlan(plan, writer))) return failure();
  return timeStep(plan, writer.artifact(), topology);
}
