// The packed form is that of an artifact, of which nothing is checked: it was made here.
#include "compiler/report/records.h"

#include "compiler/report/buffer_records.h"
#include "compiler/report/explain_summary.h"
#include "compiler/report/timeline_rows.h"
#include "compiler/simulation/timed_program.h"
#include "dialects/sgd/stages.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

/// Intervals of all programs that are kept one by one; with more, neighbours are drawn as one.
static constexpr size_t kMostIntervals = 100'000;

namespace {

class Recorder {
 public:
  Recorder(const Machine& machine, const ExportedOps& ops) : machine(machine), ops(ops) {
    for (auto [index, program] : llvm::enumerate(*machine.getRoot().programs())) {
      places[program] = index;
      firstCollectives[program] = numCollectives;
      for (uint32_t at = 0; at < artifact::Size(program->instructions()); ++at)
        numCollectives += program->instructions()->Get(at)->op_as_Collective() != nullptr;
    }
  }

  llvm::Expected<nlohmann::json> recordSteps() {
    llvm::SetVector<StringRef> names;
    for (const artifact::Program* program : *machine.getRoot().programs())
      names.insert(StringRef(program->name()->c_str(), program->name()->size()));
    std::vector<std::pair<StringRef, TimedStep>> steps;
    size_t numIntervals = 0;
    for (StringRef name : names) {
      llvm::Expected<TimedStep> step = timeStep(machine, name, /*keepsIntervals=*/true);
      if (!step) return step.takeError();
      for (const StageTimes& stage : step->times.stages) numIntervals += stage.intervals.size();
      steps.emplace_back(name, std::move(*step));
    }
    nlohmann::json all = nlohmann::json::array();
    for (const auto& [name, step] : steps) {
      double resolution = numIntervals > kMostIntervals ? step.times.seconds / kMostIntervals * getNumRows() : 0;
      all.push_back(recordStep(name, step, resolution));
    }
    return all;
  }

 private:
  /// About as many as there are, so that bars of all rows together are few.
  double getNumRows() const { return 3.0 * static_cast<double>(places.size()); }

  nlohmann::json recordStep(StringRef name, const TimedStep& step, double resolution) {
    nlohmann::json stages = nlohmann::json::array();
    for (auto [timed, times] : llvm::zip(step.programs, step.times.stages))
      stages.push_back(recordStage(*timed.program, times, resolution));
    return {{"program", name.str()},
            {"ticks", toTicks(step.times.seconds)},
            {"bubble", step.times.getBubble()},
            {"has_timeline", step.hasIntervals},
            {"stages", std::move(stages)}};
  }

  nlohmann::json recordStage(const artifact::Program& program, const StageTimes& times, double resolution) {
    nlohmann::json seconds = nlohmann::json::array(), collectives = seconds;
    for (double one : timeInstructions(machine, program)) seconds.push_back(toTicks(one));
    uint64_t number = firstCollectives[&program];
    for (uint32_t at = 0; at < artifact::Size(program.instructions()); ++at)
      if (program.instructions()->Get(at)->op_as_Collective()) collectives.push_back({at, ++number});
    ArrayRef<Operation*> own = ops[places[&program]];
    nlohmann::json buffers = nlohmann::json::object();
    if (!own.empty()) buffers = getBufferRecords(getProgramFunction(own.front()), own);
    return {{"stage", program.stage()},
            {"compute", toTicks(times.compute)},
            {"exposed", toTicks(times.exposed)},
            {"message_waits", toTicks(times.messageWaits)},
            {"host_waits", toTicks(times.hostWaits)},
            {"seconds", std::move(seconds)},
            {"collectives", std::move(collectives)},
            {"rows", getTimelineRows(times, program, resolution)},
            {"buffers", std::move(buffers)}};
  }

  static func::FuncOp getProgramFunction(Operation* op) { return op->getParentOfType<func::FuncOp>(); }

  const Machine& machine;
  const ExportedOps& ops;
  llvm::DenseMap<const artifact::Program*, size_t> places;
  llvm::DenseMap<const artifact::Program*, uint64_t> firstCollectives;  // number in the explanation of the one before
  uint64_t numCollectives = 0;
};

}  // namespace

FailureOr<nlohmann::json> mlir::sgd::createRecords(ModuleOp plan, const artifact::ArtifactT& exported,
                                                   const ExportedOps& ops, const Topology& topology,
                                                   const Report& report, const ExplanationReport& explanation) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Artifact::Pack(builder, &exported));
  const auto& root = *flatbuffers::GetRoot<artifact::Artifact>(builder.GetBufferPointer());
  Machine machine = llvm::cantFail(Machine::create(root, "the plan", topology, /*sizes=*/{}));
  llvm::Expected<nlohmann::json> steps = Recorder(machine, ops).recordSteps();
  if (!steps) return plan.emitError() << "cannot time a step: " << llvm::toString(steps.takeError());
  nlohmann::json reported = report.toJson();
  // Differs between compilations that are equal: in time, and in the limit that advice is about.
  reported.erase("compile_seconds");
  reported.erase("advice");
  return nlohmann::json{
      {"report", std::move(reported)},
      {"explanation", explanation.toJson()},
      {"groups", summarize(explanation)},
      {"tick", kTick},
      {"cache", {{"bytes", topology.device.cacheBytes}, {"bandwidth", topology.device.cacheBandwidth}}},
      {"steps", std::move(*steps)}};
}
