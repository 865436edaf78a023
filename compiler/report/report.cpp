// Counts over the plan, and their text.
#include "compiler/report/report.h"

#include <map>

#include "compiler/report/amounts.h"
#include "compiler/export/export_program.h"
#include "compiler/report/offloaded.h"
#include "compiler/report/program_reports.h"
#include "dialects/cost/cost_op.h"
#include "dialects/sgd/decision.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/scope.h"
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/source_line.h"
#include "dialects/sgd/stages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/plan/memory/arena_bytes.h"
#include "passes/plan/memory/passes.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Terms and gaps of the lower bound that are printed; JSON has all.
constexpr size_t kMaxLines = 5;

uint64_t bytesOf(Value buffer) { return getByteSize(cast<MemRefType>(buffer.getType())); }

bool isOnHost(Value buffer) { return plan::getSpace(buffer.getType()) == plan::Space::Host; }

/// Bytes of device and host that a rank allocates, constants not included.
struct Arenas {
  uint64_t device = 0, host = 0;
};

MemoryReport getMemory(func::FuncOp function, Arenas sizes, uint64_t constants) {
  MemoryReport memory;
  const uint64_t arenas = sizes.device;
  memory.host = sizes.host;
  memory.constants = constants;
  memory.peak = arenas + constants;
  for (BlockArgument argument : function.getArguments())
    if (!isOnHost(argument)) memory.arguments += bytesOf(argument);
  for (Value output : function.front().getTerminator()->getOperands()) {
    if (isOnHost(output)) continue;
    memory.outputs += bytesOf(output);
    if (isa<BlockArgument>(plan::getRoot(output).root)) memory.aliased += bytesOf(output);
  }
  memory.temporaries = arenas - memory.arguments - (memory.outputs - memory.aliased);
  return memory;
}

/// `executions` in a step.
CollectiveReport getCollective(plan::CollectiveOp collective, uint64_t executions, bool inLoop) {
  CollectiveReport report;
  report.count = executions;
  report.inLoop = inLoop;
  report.kind = ::sgd::comm::CollectiveName(collective.getKind());
  for (Value source : collective.getSources()) report.operandBytes += bytesOf(source) * executions;
  report.sentBytes = getSentBytes(collective) * executions;
  report.groupSize = getGroupSize(collective);
  report.location = getSourceLine(collective.getLoc());
  report.scope = getScope(collective.getLoc()).path;
  // A bucket is of several.
  for (const Decision& decision : getDecisions(collective, DecisionKind::Movement))
    if (!decision.subject.empty() && !llvm::is_contained(report.tensors, decision.subject))
      report.tensors.push_back(decision.subject);
  return report;
}

/// A message from a rank to one of another stage.
CollectiveReport getMessage(plan::SendOp send, uint64_t executions, bool inLoop) {
  CollectiveReport report;
  report.kind = "send";
  report.count = executions;
  report.inLoop = inLoop;
  report.operandBytes = report.sentBytes = bytesOf(send.getSource()) * executions;
  report.groupSize = 2;
  report.toStage = send.getStage();
  report.location = getSourceLine(send.getLoc());
  return report;
}

/// Of one execution.
uint64_t getFlops(Operation* instruction) { return static_cast<uint64_t>(getWork(instruction).getFlops()); }

/// One record for all instructions of a kind and line.
void addRecomputed(plan::InstructionOpInterface instruction, uint64_t executions, Report& report) {
  std::optional<Decision> again = findDecision(instruction, DecisionKind::Recompute);
  if (!again) return;
  std::string location = getSourceLine(instruction.getLoc());
  auto known = llvm::find_if(report.recomputed, [&](const RecomputedReport& one) {
    return one.what == again->chosen && one.location == location;
  });
  if (known == report.recomputed.end()) {
    report.recomputed.push_back({again->chosen, location, 0, 0, 0, 0, 0});
    known = std::prev(report.recomputed.end());
  }
  auto collective = dyn_cast<plan::CollectiveOp>(instruction.getOperation());
  known->count += executions;
  known->freedBytes += again->freedBytes;  // all iterations of a loop have one buffer
  known->flops += getFlops(instruction) * executions;
  known->sentBytes += collective ? getSentBytes(collective) * executions : 0;
  known->seconds += again->seconds * static_cast<double>(executions);
}

/// Adds ops that loops compute again.
void addRecomputedInLoops(func::FuncOp function, Report& report) {
  for (const Decision& one : getDecisions(function, DecisionKind::Recompute))
    report.recomputed.push_back({one.chosen, one.source, 1, one.freedBytes, one.flops, one.bytes, one.seconds});
}

/// Adds what `function` does in `executions` runs, loops and branches included.
void addInstructions(func::FuncOp function, uint64_t executions, bool inLoop, Report& report) {
  for (auto instruction : function.front().getOps<plan::InstructionOpInterface>()) {
    Operation* op = instruction;
    report.flops += getFlops(op) * executions;
    addRecomputed(instruction, executions, report);
    switch (instruction.getCostClass()) {
      case plan::CostClass::Kernel:
        report.kernels += executions;
        break;
      case plan::CostClass::Library:
        report.libraryCalls += executions;
        break;
      case plan::CostClass::Collective:
        report.collectives.push_back(getCollective(cast<plan::CollectiveOp>(op), executions, inLoop));
        report.sentBytes += report.collectives.back().sentBytes;
        break;
      case plan::CostClass::Transfer:
        if (auto send = dyn_cast<plan::SendOp>(op)) {
          report.collectives.push_back(getMessage(send, executions, inLoop));
          report.sentBytes += report.collectives.back().sentBytes;
        }
        break;
      case plan::CostClass::HostCopy:
      case plan::CostClass::Wait:
      case plan::CostClass::Control:
        break;
    }
    auto loop = dyn_cast<plan::LoopOp>(op);
    report.hasUnknownTrips |= loop && !loop.getTrips();
    for (func::FuncOp callee : plan::getCallees(op))
      addInstructions(callee, executions * plan::getTrips(op), inLoop || loop, report);
  }
}

/// Notes what was decided about reductions of `function`.
void addCompressions(func::FuncOp function, Report& report) {
  for (const Decision& decision : getDecisions(function, DecisionKind::Compression)) {
    // Uncompressed, or why nothing is compressed.
    const Alternative other = decision.alternatives.empty() ? Alternative() : decision.alternatives.front();
    report.savedBytes += decision.chosen.empty() ? 0 : other.bytes - decision.bytes;
    report.compressions.push_back(
        {decision.subject, decision.chosen, decision.bytes, other.bytes, decision.source, other.why});
  }
}

}  // namespace

std::vector<ProgramReport> mlir::sgd::countPrograms(ModuleOp plan) {
  std::vector<ProgramReport> programs;
  for (auto function : plan.getOps<func::FuncOp>()) {
    if (function.isPrivate()) continue;
    Report counts;
    addInstructions(function, /*executions=*/1, /*inLoop=*/false, counts);
    std::string name = getProgramName(function).str();
    auto known = llvm::find_if(programs, [&](const ProgramReport& one) { return one.name == name; });
    if (known == programs.end()) known = programs.insert(programs.end(), ProgramReport{.name = name});
    known->flops = std::max(known->flops, counts.flops);
    known->kernels = std::max(known->kernels, counts.kernels);
    known->libraryCalls = std::max(known->libraryCalls, counts.libraryCalls);
    known->sentBytes = std::max(known->sentBytes, counts.sentBytes);
    known->collectives = std::max(known->collectives, static_cast<int64_t>(counts.collectives.size()));
  }
  return programs;
}

func::FuncOp mlir::sgd::getReportedFunction(ArrayRef<ModuleOp> modules) {
  func::FuncOp first;
  for (ModuleOp module : modules)
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isPrivate()) continue;
      if (carriesState(function)) return function;
      if (!first) first = function;
    }
  return first;
}

/// Adds the memory and the work of a rank that runs `function`.
static void addFunction(func::FuncOp function, Arenas arenas, uint64_t constants, const CostModel& cost,
                        Report& report) {
  report.memory = getMemory(function, arenas, constants);
  report.offloaded = findOffloaded(function, cost);
  addInstructions(function, /*executions=*/1, /*inLoop=*/false, report);
  addRecomputedInLoops(function, report);
}

/// A stage more: the largest of each number.
static void addStage(func::FuncOp function, Arenas arenas, uint64_t constants, const CostModel& cost, Report& report) {
  Report stage;
  addFunction(function, arenas, constants, cost, stage);
  report.stages.push_back({stage.memory, /*seconds=*/0, stage.sentBytes});
  if (stage.memory.peak > report.memory.peak) report.memory = stage.memory;
  for (uint64_t Report::* number : {&Report::flops, &Report::kernels, &Report::libraryCalls, &Report::sentBytes})
    report.*number = std::max(report.*number, stage.*number);
  report.hasUnknownTrips |= stage.hasUnknownTrips;
  for (CollectiveReport& one : stage.collectives) one.stage = report.stages.size() - 1;
  llvm::append_range(report.collectives, stage.collectives);
  llvm::append_range(report.recomputed, stage.recomputed);
  llvm::append_range(report.offloaded, stage.offloaded);
}

static void addTimes(const StepTimes& times, Report& report) {
  report.estimatedSeconds = times.seconds;
  for (const StageTimes& stage : times.stages) {
    report.hostWaitSeconds = std::max(report.hostWaitSeconds, stage.hostWaits);
    report.exposedSeconds += stage.exposed / static_cast<double>(times.stages.size());
  }
  if (report.stages.empty()) return;
  report.bubble = times.getBubble();
  for (auto [stage, of] : llvm::zip(report.stages, times.stages)) stage.seconds = of.getBusy();
}

/// The name of the loss, which one of the functions of a pipeline has; empty where none has.
static std::string getLossName(ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp function : functions)
    if (std::optional<unsigned> loss = findResult(function, Role::Loss)) {
      auto name = function.getResultAttrOfType<StringAttr>(*loss, kNameAttr);
      return name ? name.str() : "result" + std::to_string(*loss);
    }
  return "";
}

Report mlir::sgd::computeReport(ModuleOp plan, uint64_t constantBytes, const StepTimes& times, const Topology& topology,
                                LowerBound bound) {
  Report report;
  MeshOp meshOp = getMesh(plan);
  MeshAttr mesh = meshOp ? meshOp.getMesh() : MeshAttr::get(plan.getContext(), {});
  report.ranks = mesh.getNumRanks();
  for (MeshAxisAttr axis : mesh.getAxes()) report.mesh.emplace_back(axis.getName().str(), axis.getSize());
  if (MeshAxisAttr axis = getSequentialAxis(meshOp))
    report.sequential.emplace_back(axis.getName().str(), axis.getSize());
  func::FuncOp function = getReportedFunction(plan);
  report.program = getProgramName(function).str();
  CostModel cost(topology, getMeshSizes(mesh));
  auto programs = getStagePrograms(plan);
  auto stages = programs.find(report.program);
  report.loss = getLossName(stages == programs.end() ? ArrayRef<func::FuncOp>(function) : stages->second);
  if (stages == programs.end()) {
    addFunction(function, {getArenaBytes(plan), getHostBytes(plan)}, constantBytes, cost, report);
    addCompressions(function, report);
    // A term of the bound counts no more than its reduction would send: the rest bounds every program with the same
    // compressions.
    bound.bytes -= std::min(bound.bytes, report.savedBytes);
  } else {
    bound = LowerBound();  // it is that of a rank which does everything
    auto bytes = plan->getAttrOfType<ArrayAttr>(kStageBytesAttr).getAsRange<DenseI64ArrayAttr>();
    for (auto [stage, sizes] : llvm::zip(stages->second, bytes)) {
      auto toUnsigned = [](int64_t size) { return static_cast<uint64_t>(size); };
      Arenas arenas{toUnsigned(sizes[0] + sizes[1]), sizes.size() > 2 ? toUnsigned(sizes[2]) : 0};
      addStage(stage, arenas, constantBytes, cost, report);
      addCompressions(stage, report);
    }
  }
  addTimes(times, report);
  llvm::sort(report.offloaded, [](const OffloadedReport& a, const OffloadedReport& b) {
    return std::tie(b.bytes, a.what, a.name, a.location) < std::tie(a.bytes, b.what, b.name, b.location);
  });
  llvm::sort(report.recomputed, [](const RecomputedReport& a, const RecomputedReport& b) {
    return std::tie(b.freedBytes, a.what, a.location) < std::tie(a.freedBytes, b.what, b.location);
  });
  report.gaps = findGaps(function, bound);
  report.lowerBound = std::move(bound);
  return report;
}

/// "gradient of params.w and 3 more in encoder/layer0"; empty where neither is known.
static std::string describeTensors(const CollectiveReport& one) {
  std::string text;
  if (!one.tensors.empty()) text += ", " + one.tensors.front();
  if (one.tensors.size() > 1) text += " and " + std::to_string(one.tensors.size() - 1) + " more";
  return text + (one.scope.empty() ? "" : ", in " + one.scope);
}

static void printBound(const LowerBound& bound, llvm::ArrayRef<BoundGap> gaps, uint64_t sent, llvm::raw_ostream& os) {
  os << "  lower bound  " << formatBytes(bound.bytes);
  if (sent > 0) os << ", " << llvm::format("%.0f", 100.0 * bound.bytes / sent) << " % of what is sent";
  os << " (docs/communication.md)\n";
  for (const LowerBoundTerm& term : llvm::ArrayRef(bound.terms).take_front(kMaxLines))
    os << "    " << formatBytes(term.bytes) << " of " << term.what << " (" << term.type << ")"
       << (term.location.empty() ? "" : ", ") << term.location << "\n";
  if (bound.terms.size() > kMaxLines) os << "    and " << bound.terms.size() - kMaxLines << " smaller ones\n";
  if (!gaps.empty()) os << "  above it\n";
  for (const BoundGap& gap : gaps.take_front(kMaxLines))
    os << "    " << formatBytes(gap.bytes) << " by " << gap.reason << "\n";
  if (gaps.size() > kMaxLines) os << "    and " << gaps.size() - kMaxLines << " smaller steps\n";
}

/// By kind.
static void printCompressions(const Report& report, llvm::raw_ostream& os) {
  struct Sum {
    uint64_t count = 0, sent = 0, whole = 0;
  };
  std::map<std::string, Sum> kinds;
  for (const CompressionReport& one : report.compressions) {
    Sum& sum = kinds[one.kind];
    ++sum.count, sum.sent += one.sentBytes, sum.whole += one.uncompressedBytes;
  }
  os << "  compressed   saves " << formatBytes(report.savedBytes) << "\n";
  for (const auto& [kind, sum] : kinds) {
    os << "    " << sum.count << (sum.count == 1 ? " reduction " : " reductions ");
    if (kind.empty())
      os << "over these axes as they are (--explain says why)\n";
    else
      os << "as " << kind << ", " << formatBytes(sum.sent) << " instead of " << formatBytes(sum.whole) << "\n";
  }
}

/// Between each pair of stages.
static void printMessages(llvm::ArrayRef<CollectiveReport> collectives, llvm::raw_ostream& os) {
  std::map<std::pair<int64_t, int64_t>, std::pair<int64_t, uint64_t>> pairs;  // count and bytes
  for (const CollectiveReport& one : collectives) {
    if (one.toStage < 0) continue;
    auto& [count, bytes] = pairs[{one.stage, one.toStage}];
    count += one.count, bytes += one.sentBytes;
  }
  for (const auto& [stages, sum] : pairs)
    os << "    " << sum.first << (sum.first == 1 ? " message" : " messages") << " from stage " << stages.first
       << " to stage " << stages.second << ", " << formatBytes(sum.second) << " sent\n";
}

static void printRecomputed(llvm::ArrayRef<RecomputedReport> recomputed, llvm::raw_ostream& os) {
  if (recomputed.empty()) return;
  uint64_t count = 0, freed = 0, flops = 0;
  double seconds = 0;
  for (const RecomputedReport& one : recomputed)
    count += one.count, freed += one.freedBytes, flops += one.flops, seconds += one.seconds;
  os << "  recomputed   " << count << " instructions, for the memory limit: " << formatBytes(freed) << " not kept, "
     << llvm::format("%.3g", static_cast<double>(flops)) << " flops and " << llvm::format("%.3g", seconds * 1e3)
     << " ms more\n";
  for (const RecomputedReport& one : recomputed.take_front(kMaxLines))
    os << "    " << formatBytes(one.freedBytes) << " by " << one.count << " of " << one.what
       << (one.location.empty() ? "" : " at ") << one.location << ", " << llvm::format("%.3g", one.seconds * 1e3)
       << " ms" << (one.sentBytes == 0 ? "" : ", " + formatBytes(one.sentBytes) + " sent again") << "\n";
  if (recomputed.size() > kMaxLines) os << "    and " << recomputed.size() - kMaxLines << " other lines\n";
}

static void printOffloaded(llvm::ArrayRef<OffloadedReport> offloaded, double wait, llvm::raw_ostream& os) {
  if (offloaded.empty()) return;
  uint64_t count = 0, bytes = 0;
  double seconds = 0;
  for (const OffloadedReport& one : offloaded) count += one.count, bytes += one.bytes, seconds += one.seconds;
  os << "  on the host  " << formatBytes(bytes) << ", for the memory limit, by " << count << " copies of "
     << llvm::format("%.3g", seconds * 1e3) << " ms, of which the device waits for " << llvm::format("%.3g", wait * 1e3)
     << " ms\n";
  for (const OffloadedReport& one : offloaded.take_front(kMaxLines))
    os << "    " << formatBytes(one.bytes) << " of " << one.what << (one.name.empty() ? "" : " " + one.name)
       << (one.location.empty() ? "" : " at ") << one.location << ", " << llvm::format("%.3g", one.seconds * 1e3)
       << " ms of copies\n";
  if (offloaded.size() > kMaxLines) os << "    and " << offloaded.size() - kMaxLines << " others\n";
}

void Report::print(llvm::raw_ostream& os) const {
  os << "ranks          " << ranks;
  for (const auto& [name, size] : mesh) os << " " << name << "=" << size;
  for (const auto& [name, size] : sequential) os << ", " << size << " iterations of " << name;
  if (!loss.empty()) os << "\nloss           " << loss;
  printPrograms(*this, os);
  os << "\nper rank and step" << (programs.size() > 1 ? " of program '" + program + "'" : "")
     << (hasUnknownTrips ? ", one trip of each loop of unknown trips" : "") << ":\n";
  os << "  memory       " << formatBytes(memory.peak) << " (arguments " << formatBytes(memory.arguments) << ", outputs "
     << formatBytes(memory.outputs) << " of which " << formatBytes(memory.aliased) << " in arguments' place, constants "
     << formatBytes(memory.constants) << ", temporaries " << formatBytes(memory.temporaries) << ")\n";
  if (memory.host > 0) os << "  host memory  " << formatBytes(memory.host) << ", pinned\n";
  for (auto [number, stage] : llvm::enumerate(stages))
    os << "    stage " << number << "    " << formatBytes(stage.memory.peak) << ", "
       << llvm::format("%.3g", stage.seconds * 1e3) << " ms without waits, " << formatBytes(stage.sentBytes)
       << " sent\n";
  printParameters(*this, os);
  os << "  compute      " << llvm::format("%.3g", static_cast<double>(flops)) << " flops in " << kernels
     << " kernels and " << libraryCalls << " library calls\n";
  bool hasMessages = llvm::any_of(collectives, [](const CollectiveReport& one) { return one.toStage >= 0; });
  os << "  sent         " << formatBytes(sentBytes) << " in " << collectives.size()
     << (hasMessages ? " collectives and messages of all stages\n" : " collectives\n");
  for (const CollectiveReport& one : collectives)
    if (one.toStage < 0)
      os << "    " << one.kind << " over " << one.groupSize << " ranks, " << formatBytes(one.sentBytes) << " sent"
         << (one.count == 1 ? "" : " in " + std::to_string(one.count) + " runs") << (one.location.empty() ? "" : ", ")
         << one.location << describeTensors(one) << "\n";
  printMessages(collectives, os);
  if (savedBytes > 0) printCompressions(*this, os);
  if (stages.empty()) printBound(lowerBound, gaps, sentBytes, os);
  printRecomputed(recomputed, os);
  printOffloaded(offloaded, hostWaitSeconds, os);
  os << "  estimate     " << llvm::format("%.3g", estimatedSeconds * 1e3) << " ms a step";
  if (!stages.empty()) os << ", of which stages wait " << llvm::format("%.0f", 100 * bubble) << " %";
  os << "\n";
  if (!advice.empty()) os << "advice\n";
  for (const std::string& one : advice) os << "  " << one << "\n";
  os << "compiled in " << llvm::format("%.2f", compileSeconds) << " s\n";
}
