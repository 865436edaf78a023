#include "compiler/simulation/estimate.h"

#include "llvm/ADT/STLExtras.h"
#include "runtime/artifact/batch_size.h"
#include "runtime/artifact/whole_program.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

static constexpr double kSecondsPerHour = 3600;

/// The program of a step: the one that is asked for, else the only one, `train` or `main`.
static llvm::Expected<std::string> findProgram(const artifact::Artifact& root, const std::string& asked) {
  std::string names;
  std::vector<std::string> all;
  for (const artifact::Program* program : *root.programs()) {
    std::string name = program->name()->str();
    if (llvm::is_contained(all, name)) continue;
    names += (all.empty() ? "" : ", ") + name;
    all.push_back(name);
  }
  if (asked.empty() && all.size() == 1) return all.front();
  for (const char* usual : {"train", "main"})
    if (asked.empty() && llvm::is_contained(all, usual)) return std::string(usual);
  if (llvm::is_contained(all, asked)) return asked;
  return llvm::createStringError(
      llvm::Twine("has ") +
      (asked.empty() ? "several programs, none of them 'train' or 'main'" : "no program '" + asked + "'") +
      "; expected one of " + names + "; name it by --program");
}

static uint64_t getPeakBytes(const artifact::Artifact& root) {
  uint64_t arenas = root.private_bytes() + root.window_bytes();
  if (artifact::Size(root.stages()) > 0) {
    arenas = 0;
    for (const artifact::Stage* stage : *root.stages())
      arenas = std::max(arenas, stage->private_bytes() + stage->window_bytes());
  }
  return arenas + root.constant_bytes();
}

static FailureEstimate estimateFailures(const Machine& machine, const EstimateOptions& options,
                                        const StepEstimate& estimate) {
  FailureEstimate failures;
  failures.model.mean_time_between = options.failureHours * kSecondsPerHour / static_cast<double>(estimate.ranks);
  double storage = machine.getCost().getTopology().device.storageBandwidth;
  failures.model.save = options.saveSeconds.value_or(static_cast<double>(estimate.stateBytes) / storage);
  failures.model.restart = options.restartSeconds;
  failures.bestInterval = ::sgd::checkpoint::BestInterval(failures.model, estimate.stepSeconds);
  failures.goodput = ::sgd::checkpoint::Goodput(failures.model, failures.bestInterval);
  return failures;
}

static void addStages(const Machine& machine, TimedStep timed, StepEstimate& estimate) {
  const std::vector<TimedProgram>& programs = timed.programs;
  StepTimes& step = timed.times;
  const DeviceModel& device = machine.getCost().getTopology().device;
  auto share = 1.0 / static_cast<double>(programs.size());
  double least = 0;  // seconds of all flops at the data sheet's rates
  for (const TimedProgram& program : programs) {
    estimate.flopsPerRank += share * program.flops;
    least +=
        share * ((program.flops - program.halfFlops) / device.peakFlops + program.halfFlops / device.peakHalfFlops);
    ModelState state = measureModelState(*program.program);
    if (state.getBytes() > estimate.modelState.getBytes()) estimate.modelState = state;
    estimate.stateBytes = std::max(estimate.stateBytes, state.kept);
  }
  estimate.stepSeconds = step.seconds;
  estimate.bubble = step.getBubble();
  estimate.utilization = step.seconds > 0 ? least / step.seconds : 0;
  for (const LinkClass& link : machine.getCost().getTopology().links) estimate.sentBytes.emplace_back(link.name, 0);
  for (const StageTimes& stage : step.stages) {
    estimate.computeSeconds += share * stage.compute;
    estimate.exposedSeconds += share * stage.exposed;
    estimate.hostWaitSeconds += share * stage.hostWaits;
    estimate.communicationSeconds += share * stage.communication;
    for (auto [most, sent] : llvm::zip(estimate.sentBytes, stage.sentBytes)) most.second = std::max(most.second, sent);
  }
  estimate.stages = std::move(step.stages);
}

/// How many times as many rows an input has on the machine's mesh as on the artifact's.
static uint64_t scaleRows(const Machine& machine, const artifact::TensorInfo& type, uint64_t rows) {
  if (artifact::Size(type.sharding()) == 0 || !type.sharding()->Get(0)->axes()) return rows;
  for (const artifact::AxisRef* ref : *type.sharding()->Get(0)->axes()) {
    uint64_t size = machine.getRoot().mesh()->Get(ref->axis())->size();
    if (ref->size() == size) rows = rows / size * static_cast<uint64_t>(machine.getMesh()[ref->axis()]);
  }
  return rows;
}

static void addBatch(const Machine& machine, const std::string& name, StepEstimate& estimate) {
  artifact::BatchSize batch, compiled;
  for (const auto& input : artifact::WholeOf(machine.getRoot(), name).inputs) {
    const artifact::TensorInfo& type = *input.tensor->type();
    if (input.tensor->role() != artifact::InputRole::Input || input.tensor->state() || !type.global_dims()) continue;
    std::vector<uint64_t> dims(type.global_dims()->begin(), type.global_dims()->end());
    compiled.Add(type.element(), dims);
    if (!dims.empty()) dims[0] = scaleRows(machine, type, dims[0]);
    batch.Add(type.element(), dims);
  }
  estimate.rows = batch.rows;
  estimate.tokens = batch.tokens;
  estimate.compiledRows = compiled.rows;
}

llvm::Expected<StepEstimate> mlir::sgd::estimateStep(const Machine& machine, const EstimateOptions& options) {
  const artifact::Artifact& root = machine.getRoot();
  llvm::Expected<std::string> name = findProgram(root, options.program);
  if (!name) return name.takeError();
  llvm::Expected<TimedStep> step = timeStep(machine, *name, options.keepsIntervals);
  if (!step) return step.takeError();
  StepEstimate estimate;
  estimate.program = *name;
  for (unsigned axis = 0; axis < machine.getMesh().size(); ++axis)
    estimate.mesh.emplace_back(root.mesh()->Get(axis)->name()->str(), machine.getMesh()[axis]);
  estimate.ranks = machine.getRanks();
  estimate.peakBytes = getPeakBytes(root);
  const DeviceModel& device = machine.getCost().getTopology().device;
  estimate.deviceBytes = static_cast<uint64_t>(device.memoryBytes);
  addStages(machine, std::move(*step), estimate);
  addBatch(machine, *name, estimate);
  if (options.failureHours > 0) {
    estimate.failures = estimateFailures(machine, options, estimate);
    estimate.goodput = estimate.failures->goodput;
  }
  estimate.epochSteps = options.epochSteps;
  double seconds = static_cast<double>(options.epochSteps) * estimate.stepSeconds / estimate.goodput;
  estimate.epochDeviceHours = seconds / kSecondsPerHour * static_cast<double>(estimate.ranks);
  estimate.epochPrice = estimate.epochDeviceHours * options.pricePerHour.value_or(device.pricePerHour);
  return estimate;
}

double mlir::sgd::getScaling(const StepEstimate& first, const StepEstimate& other) {
  return other.stepSeconds > 0 ? first.stepSeconds / other.stepSeconds : 1;
}
