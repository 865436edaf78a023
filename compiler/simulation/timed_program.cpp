// The times are those of the instructions as the artifact has them.
#include "compiler/simulation/timed_program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "passes/cost/message_cost.h"
#include "runtime/device/stream_plan.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;
namespace device = ::sgd::device;
using Kind = StepEvent::Kind;

namespace {
class Timing {
 public:
  Timing(const Machine& machine, const artifact::Program& program, device::StreamPlan plan)
      : machine(machine), program(program), plan(std::move(plan)) {
    result.program = &program;
    StageProgram& stage = result.stage;
    stage.streams.resize(this->plan.streams(), StreamKind::Messages);
    for (uint32_t stream = 1; stream < this->plan.first_link(); ++stream)
      stage.streams[stream] = stream < this->plan.to_host() ? StreamKind::Collectives : StreamKind::HostCopies;
    stage.eventStream.resize(this->plan.events);
  }

  TimedProgram run();

 private:
  void addBlock(const device::StreamBlock& block, double times);
  void add(const device::StreamAction& action, double times);
  void addLoop(const device::StreamAction& action, const artifact::Loop& loop, double times);
  void addCase(const device::StreamAction& action, size_t numBranches, double times);
  void addCollective(const device::StreamAction& action, const artifact::Collective& collective);
  void addMessage(Kind kind, const device::StreamAction& action);
  void addCompute(const device::StreamAction& action, double seconds);
  std::optional<double> sumUp(size_t begin) const;

  const Machine& machine;
  const artifact::Program& program;
  device::StreamPlan plan;
  TimedProgram result;
};
}  // namespace

/// As compiler/export/export_work.h wrote it.
static Work getWork(const artifact::Instruction& instruction) {
  Work work;
  work.readBytes = static_cast<double>(instruction.bytes());
  for (uint32_t index = 0; index < artifact::Size(instruction.operations()); ++index) {
    const artifact::OperationCount& one = *instruction.operations()->Get(index);
    work.add(OperationKind(one.kind()), Precision(one.precision()), one.count());
  }
  return work;
}

/// Of matmuls and attention of f16 and bf16.
static double getHalfFlops(const Work& work) {
  return work.get(OperationKind::Matmul, Precision::Half) + work.get(OperationKind::Attention, Precision::Half);
}

TimedProgram Timing::run() {
  addBlock(plan.blocks.front(), 1);
  return std::move(result);
}

void Timing::addBlock(const device::StreamBlock& block, double times) {
  for (const device::StreamAction& action : block) switch (action.kind) {
      case device::StreamAction::Kind::kRecord:
        result.stage.events.push_back({.kind = Kind::Record, .stream = action.stream, .number = action.event});
        result.stage.eventStream[action.event] = action.stream;
        break;
      case device::StreamAction::Kind::kWait:
        result.stage.events.push_back({.kind = Kind::Wait, .stream = action.stream, .number = action.event});
        break;
      case device::StreamAction::Kind::kPost:
        addMessage(Kind::Post, action);
        break;
      case device::StreamAction::Kind::kRun:
      case device::StreamAction::Kind::kHost:
        add(action, times);
        break;
    }
}

void Timing::add(const device::StreamAction& action, double times) {
  const artifact::Instruction& instruction = *program.instructions()->Get(action.instruction);
  if (const artifact::Loop* loop = instruction.op_as_Loop()) return addLoop(action, *loop, times);
  if (const artifact::Case* branches = instruction.op_as_Case())
    return addCase(action, artifact::Size(branches->branches()), times);
  if (const artifact::Collective* collective = instruction.op_as_Collective())
    return addCollective(action, *collective);
  if (instruction.op_as_Send()) return addMessage(plan.IsLink(action.stream) ? Kind::SendPosted : Kind::Send, action);
  // With links it only copies what has been posted before.
  if (instruction.op_as_Receive() && plan.links.empty()) return addMessage(Kind::Receive, action);
  // Copies between device and host; machines without a link between them copy in one memory.
  if (action.stream != device::StreamPlan::kCompute && instruction.op_as_Copy() &&
      machine.getCost().getTopology().device.hostBandwidth > 0)
    return addCompute(
        action, machine.getCost().getHostCopySeconds(static_cast<double>(instruction.op_as_Copy()->target()->size())));
  Work work = getWork(instruction);
  result.flops += times * static_cast<double>(instruction.flops());
  result.halfFlops += times * getHalfFlops(work);
  addCompute(action, machine.getCost().getSeconds(work));
}

void Timing::addCompute(const device::StreamAction& action, double seconds) {
  result.stage.events.push_back({.stream = action.stream, .index = action.instruction, .seconds = seconds});
}

/// The time of the events from `begin` on where they only compute, on one stream.
std::optional<double> Timing::sumUp(size_t begin) const {
  double seconds = 0;
  for (const StepEvent& event : llvm::ArrayRef(result.stage.events).drop_front(begin)) {
    if (event.kind != Kind::Compute || event.stream != device::StreamPlan::kCompute) return std::nullopt;
    seconds += event.seconds;
  }
  return seconds;
}

void Timing::addLoop(const device::StreamAction& action, const artifact::Loop& loop, double times) {
  uint64_t trips = loop.predicate() ? 1 : loop.trips();
  size_t begin = result.stage.events.size();
  result.stage.events.push_back({.kind = Kind::Loop, .index = action.instruction, .trips = trips});
  // The condition, then the body.
  for (uint32_t block : {action.first_block, action.first_block + 1})
    addBlock(plan.blocks[block], times * static_cast<double>(trips));
  if (std::optional<double> seconds = sumUp(begin + 1)) {
    result.stage.events.resize(begin);
    return addCompute(action, *seconds * static_cast<double>(trips));
  }
  result.stage.events[begin].body = result.stage.events.size() - begin - 1;
}

void Timing::addCase(const device::StreamAction& action, size_t numBranches, double times) {
  TimedProgram before = std::move(result);
  TimedProgram longest = before;
  double most = -1;
  for (uint32_t branch = 0; branch < numBranches; ++branch) {
    result = before;
    addBlock(plan.blocks[action.first_block + branch], times);
    double seconds = 0;
    for (const StepEvent& event : llvm::ArrayRef(result.stage.events).drop_front(before.stage.events.size()))
      seconds += event.seconds;
    if (seconds <= most) continue;
    most = seconds;
    longest = std::move(result);
  }
  result = std::move(longest);
}

/// Bytes by which times are counted (passes/cost/cost_model.h), of the artifact's own groups: gathered tensors keep
/// their size where a group has another one.
static uint64_t getCountedBytes(const Machine& machine, const ::sgd::comm::CollectiveSpec& spec) {
  // What is sent is what is counted.
  if (spec.kind == ::sgd::comm::CollectiveKind::kGatherRange)
    return ::sgd::comm::SentBytes(artifact::MeshOf(machine.getRoot()), spec);
  uint64_t bytes = 0;
  for (const ::sgd::comm::CollectiveOperand& operand : spec.operands)
    bytes += operand.count * ::sgd::comm::ElementSize(operand.element);
  return ::sgd::comm::CountsResults(spec.kind) ? bytes * ::sgd::comm::AxesSize(spec.axes) : bytes;
}

void Timing::addCollective(const device::StreamAction& action, const artifact::Collective& collective) {
  ::sgd::comm::CollectiveSpec spec = artifact::SpecOf(collective, "");
  AxisParts parts = machine.getParts(collective.axes());
  const CostModel& cost = machine.getCost();
  uint64_t bytes = getCountedBytes(machine, spec);
  result.stage.events.push_back({.kind = Kind::Collective,
                                 .stream = action.stream,
                                 .index = action.instruction,
                                 .link = static_cast<unsigned>(&cost.getLink(parts) - cost.getTopology().links.data()),
                                 .seconds = cost.getCollectiveSeconds(spec.kind, parts, bytes),
                                 .sentBytes = CostModel::getSentBytes(spec.kind, parts, bytes)});
}

void Timing::addMessage(Kind kind, const device::StreamAction& action) {
  const artifact::Instruction& instruction = *program.instructions()->Get(action.instruction);
  const artifact::Send* send = instruction.op_as_Send();
  uint32_t channel = send ? send->channel() : instruction.op_as_Receive()->channel();
  const artifact::Channel& path = *machine.getRoot().channels()->Get(channel);
  auto bytes = static_cast<double>(path.slot_bytes());
  // Ranks of a host copy messages themselves.
  bool copies = kind == Kind::Send || kind == Kind::Receive;
  result.stage.events.push_back(
      {.kind = kind,
       .stream = action.stream,
       .index = action.instruction,
       .number = channel,
       .link = machine.getLinkBetween(path.from_stage(), path.to_stage()),
       .seconds = getTransitSeconds(machine.getCost(), path.from_stage(), path.to_stage(), bytes),
       .copySeconds = copies ? machine.getCost().getSeconds(Work::ofCopy(bytes)) : 0,
       .sentBytes = send ? path.slot_bytes() : 0});
}

/// Whether the program was compiled before artifacts said what instructions compute.
static bool lacksOperations(const artifact::Program& program) {
  auto hasOperations = [&](uint32_t index) {
    return artifact::Size(program.instructions()->Get(index)->operations()) > 0;
  };
  return program.flops() > 0 &&
         llvm::none_of(llvm::seq<uint32_t>(0, artifact::Size(program.instructions())), hasOperations);
}

llvm::Expected<TimedProgram> mlir::sgd::timeProgram(const Machine& machine, const artifact::Program& program) {
  if (lacksOperations(program))
    return llvm::createStringError("program '" + program.name()->str() +
                                   "' does not say what its instructions compute; expected the kinds of operations "
                                   "that sgdc writes; compile it again");
  const artifact::Artifact& root = machine.getRoot();
  if (root.target()->string_view() == "cpu") return Timing(machine, program, device::PlanHostThreads(program)).run();
  absl::StatusOr<device::StreamPlan> plan = device::PlanStreams(root, program);
  if (!plan.ok()) return llvm::createStringError(std::string(plan.status().message()));
  return Timing(machine, program, *std::move(plan)).run();
}

llvm::Expected<TimedStep> mlir::sgd::timeStep(const Machine& machine, llvm::StringRef name, bool keepsIntervals) {
  const artifact::Artifact& root = machine.getRoot();
  TimedStep step;
  for (const artifact::Program* program : *root.programs()) {
    if (llvm::StringRef(program->name()->string_view()) != name) continue;
    llvm::Expected<TimedProgram> timed = timeProgram(machine, *program);
    if (!timed) return timed.takeError();
    step.programs.push_back(std::move(*timed));
  }
  llvm::sort(step.programs,
             [](const TimedProgram& a, const TimedProgram& b) { return a.program->stage() < b.program->stage(); });
  std::vector<StageProgram> stages;
  for (TimedProgram& one : step.programs) stages.push_back(std::exchange(one.stage, {}));
  std::vector<StepChannel> channels;
  for (unsigned channel = 0; channel < artifact::Size(root.channels()); ++channel)
    channels.push_back({root.channels()->Get(channel)->depth()});
  auto numLinks = static_cast<unsigned>(machine.getCost().getTopology().links.size());
  llvm::Expected<StepTimes> times = runStep(stages, channels, numLinks, keepsIntervals);
  if (!times) return times.takeError();
  step.times = std::move(*times);
  return step;
}
