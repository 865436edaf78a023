// The times are those of the instructions as the artifact has them.
#include "compiler/simulation/timed_program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include "passes/cost/message_cost.h"
#include "runtime/device/stream_plan.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;
namespace device = ::sgd::device;
using Kind = StepEvent::Kind;

/// Of all stages. With more, loops that only compute are drawn as one computation, and with very many nothing is kept.
static constexpr uint64_t kMostExpandedEvents = uint64_t(1) << 18, kMostKeptEvents = uint64_t(1) << 23;

namespace {
class Timing {
 public:
  Timing(const Machine& machine, const artifact::Program& program, device::StreamPlan plan, bool keepsLoops)
      : machine(machine), program(program), plan(std::move(plan)), keepsLoops(keepsLoops) {
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
  bool keepsLoops;
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

/// Whether it copies between device and host; machines without a link between them copy in one memory.
static bool isHostCopy(const Machine& machine, const artifact::Instruction& instruction) {
  const artifact::Copy* copy = instruction.op_as_Copy();
  return copy && machine.getCost().getTopology().device.hostBandwidth > 0 &&
         (copy->source()->space() == artifact::Space::Host || copy->target()->space() == artifact::Space::Host);
}

static double getComputeSeconds(const Machine& machine, const artifact::Instruction& instruction) {
  const CostModel& cost = machine.getCost();
  if (isHostCopy(machine, instruction))
    return cost.getHostCopySeconds(static_cast<double>(instruction.op_as_Copy()->target()->size()));
  return cost.getSeconds(getWork(instruction));
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
  if (!isHostCopy(machine, instruction)) {
    result.flops += times * static_cast<double>(instruction.flops());
    result.halfFlops += times * getHalfFlops(getWork(instruction));
  }
  addCompute(action, getComputeSeconds(machine, instruction));
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
  if (std::optional<double> seconds = keepsLoops ? std::nullopt : sumUp(begin + 1)) {
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
  // The bytes sent are those that reports count.
  if (spec.kind == ::sgd::comm::CollectiveKind::kGatherRange)
    return ::sgd::comm::SentBytes(artifact::MeshOf(machine.getRoot()), spec);
  uint64_t bytes = 0;
  for (const ::sgd::comm::CollectiveOperand& operand : spec.operands)
    bytes += operand.count * ::sgd::comm::ElementSize(operand.element);
  return ::sgd::comm::CountsResults(spec.kind) ? bytes * ::sgd::comm::AxesSize(spec.axes) : bytes;
}

static double getCollectiveSeconds(const Machine& machine, const artifact::Collective& collective) {
  ::sgd::comm::CollectiveSpec spec = artifact::SpecOf(collective, "");
  return machine.getCost().getCollectiveSeconds(spec.kind, machine.getParts(collective.axes()),
                                                getCountedBytes(machine, spec));
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
                                 .seconds = getCollectiveSeconds(machine, collective),
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

llvm::Expected<TimedProgram> mlir::sgd::timeProgram(const Machine& machine, const artifact::Program& program,
                                                    bool keepsLoops) {
  if (lacksOperations(program))
    return llvm::createStringError("program '" + program.name()->str() +
                                   "' does not say what its instructions compute; expected the kinds of operations "
                                   "that sgdc writes; compile it again");
  const artifact::Artifact& root = machine.getRoot();
  if (root.target()->string_view() == "cpu")
    return Timing(machine, program, device::PlanHostThreads(program), keepsLoops).run();
  absl::StatusOr<device::StreamPlan> plan = device::PlanStreams(root, program);
  if (!plan.ok()) return llvm::createStringError(std::string(plan.status().message()));
  return Timing(machine, program, *std::move(plan), keepsLoops).run();
}

std::vector<double> mlir::sgd::timeInstructions(const Machine& machine, const artifact::Program& program) {
  const CostModel& cost = machine.getCost();
  auto getSeconds = [&](const artifact::Instruction& instruction) {
    if (const artifact::Collective* collective = instruction.op_as_Collective())
      return getCollectiveSeconds(machine, *collective);
    if (const artifact::Send* send = instruction.op_as_Send()) {
      const artifact::Channel& path = *machine.getRoot().channels()->Get(send->channel());
      return getTransitSeconds(cost, path.from_stage(), path.to_stage(), static_cast<double>(path.slot_bytes()));
    }
    bool hasWork = artifact::Size(instruction.operations()) > 0 || instruction.bytes() > 0;
    return hasWork ? getComputeSeconds(machine, instruction) : 0;
  };
  std::vector<double> seconds;
  for (uint32_t index = 0; index < artifact::Size(program.instructions()); ++index)
    seconds.push_back(getSeconds(*program.instructions()->Get(index)));
  return seconds;
}

/// Events that are executed, iterations of loops included.
static uint64_t countEvents(llvm::ArrayRef<StepEvent> events) {
  uint64_t count = 0;
  for (size_t at = 0; at < events.size(); ++at) {
    if (events[at].kind != Kind::Loop) {
      ++count;
      continue;
    }
    count += llvm::SaturatingMultiply(events[at].trips, countEvents(events.slice(at + 1, events[at].body)));
    at += events[at].body;
  }
  return count;
}

/// The program of each stage.
static llvm::Expected<std::vector<TimedProgram>> timePrograms(const Machine& machine, llvm::StringRef name,
                                                              bool keepsLoops) {
  std::vector<TimedProgram> programs;
  for (const artifact::Program* program : *machine.getRoot().programs()) {
    if (llvm::StringRef(program->name()->string_view()) != name) continue;
    llvm::Expected<TimedProgram> timed = timeProgram(machine, *program, keepsLoops);
    if (!timed) return timed.takeError();
    programs.push_back(std::move(*timed));
  }
  llvm::sort(programs,
             [](const TimedProgram& a, const TimedProgram& b) { return a.program->stage() < b.program->stage(); });
  return programs;
}

static uint64_t countEvents(llvm::ArrayRef<TimedProgram> programs) {
  uint64_t count = 0;
  for (const TimedProgram& one : programs) count = llvm::SaturatingAdd(count, countEvents(one.stage.events));
  return count;
}

llvm::Expected<TimedStep> mlir::sgd::timeStep(const Machine& machine, llvm::StringRef name, bool keepsIntervals) {
  const artifact::Artifact& root = machine.getRoot();
  TimedStep step;
  llvm::Expected<std::vector<TimedProgram>> programs = timePrograms(machine, name, /*keepsLoops=*/keepsIntervals);
  if (programs && keepsIntervals && countEvents(*programs) > kMostExpandedEvents)
    programs = timePrograms(machine, name, /*keepsLoops=*/false);
  if (!programs) return programs.takeError();
  step.programs = std::move(*programs);
  step.hasIntervals = keepsIntervals && countEvents(step.programs) <= kMostKeptEvents;
  std::vector<StageProgram> stages;
  for (TimedProgram& one : step.programs) stages.push_back(std::exchange(one.stage, {}));
  std::vector<StepChannel> channels;
  for (unsigned channel = 0; channel < artifact::Size(root.channels()); ++channel)
    channels.push_back({root.channels()->Get(channel)->depth()});
  auto numLinks = static_cast<unsigned>(machine.getCost().getTopology().links.size());
  llvm::Expected<StepTimes> times = runStep(stages, channels, numLinks, step.hasIntervals);
  if (!times) return times.takeError();
  step.times = std::move(*times);
  return step;
}
