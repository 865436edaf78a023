// Passes attach what they decide to functions and ops; here it is collected.
#include "compiler/report/explain.h"

#include <map>

#include "compiler/export/export_explanation.h"
#include "compiler/export/export_program.h"
#include "compiler/report/explain_summary.h"
#include "compiler/report/bound_gaps.h"
#include "compiler/report/report.h"
#include "compiler/report/offloaded.h"
#include "dialects/sgd/source_line.h"
#include "dialects/sgd/stages.h"
#include "llvm/Support/Format.h"
#include "passes/cost/message_cost.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/timing/op_times.h"
#include "runtime/artifact/explain_text.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Walks the programs of a plan.
class Explainer {
 public:
  explicit Explainer(const OpTimes& times) : times(times) {}

  /// Notes the bound of the program that is added next.
  void setBound(ArrayRef<BoundStep> steps) {
    for (const BoundStep& step : steps) needed[{numCollectives + step.collective + 1, step.decision}] = step.needed;
  }

  /// The records of all collectives and messages of `function`, whose stage is `stage`, and of what it runs,
  /// `executions` times in a step.
  void addFunction(func::FuncOp function, StringRef program, int64_t stage, uint64_t executions) {
    for (Operation& op : function.front()) {
      if (auto send = dyn_cast<plan::SendOp>(op)) addSend(send, program, stage, executions);
      if (auto collective = dyn_cast<plan::CollectiveOp>(op)) addCollective(collective, program, executions);
      if (auto instruction = dyn_cast<plan::InstructionOpInterface>(op))
        addRecomputed(instruction, program, executions);
      for (func::FuncOp callee : plan::getCallees(&op))
        addFunction(callee, program, stage, executions * plan::getTrips(&op));
    }
  }

  /// The decisions about `function` as a whole, in the order of the passes.
  void addDecisions(func::FuncOp function) {
    for (const Decision& decision : getDecisions(function)) {
      ExplainRecord& record = addRecord(decision, getProgramName(function));
      record.location = decision.source;
      record.seconds = decision.seconds;
      record.flops = decision.flops;
      record.why = decision.why;
    }
  }

  /// Adds values that are in the host's memory for a while.
  void addOffloaded(func::FuncOp function) {
    for (const OffloadedReport& one : findOffloaded(function, times.getCost())) {
      ExplainRecord& record = explanation.records.emplace_back();
      record.program = getProgramName(function).str();
      record.location = one.location;
      record.op = "offload";
      record.seconds = one.seconds;
      record.freedBytes = one.bytes;
      llvm::raw_string_ostream why(record.why);
      why << "for the memory limit, " << one.bytes << " bytes of " << one.what << (one.name.empty() ? "" : " ")
          << one.name << " are on the host "
          << (one.what == "state"    ? "between steps"
              : one.what == "result" ? "when the step ends"
                                     : "between two uses")
          << ": " << one.count << " copies of " << llvm::format("%.3g", one.seconds * 1e6) << " us beside compute";
    }
  }

  ExplanationReport take() { return std::move(explanation); }

 private:
  /// A record of a decision without its numbers: what collectives send is counted where they are.
  ExplainRecord& addRecord(const Decision& decision, StringRef program) {
    ExplainRecord& record = explanation.records.emplace_back();
    record.program = program.str();
    record.op = stringifyDecisionKind(decision.kind).str();
    record.subject = decision.subject;
    record.scope = decision.scope;
    record.chosen = decision.chosen;
    record.alternatives = decision.alternatives;
    record.freedBytes = decision.freedBytes;
    return record;
  }

  void addCollective(plan::CollectiveOp collective, StringRef program, uint64_t executions) {
    ExplainRecord base;
    base.program = program.str();
    base.collective = ++numCollectives;
    base.location = getSourceLine(collective.getLoc());
    base.op = ::sgd::comm::CollectiveName(collective.getKind());
    base.bytes = getSentBytes(collective) * executions;
    base.seconds = times.get(collective) * static_cast<double>(executions);
    if (!hasDecision(collective, DecisionKind::Movement)) {
      base.why = "the program asks for it";
      explanation.records.push_back(base);
      base.bytes = 0, base.seconds = 0;
    }
    for (auto [index, decision] : llvm::enumerate(getDecisions(collective))) {
      if (decision.kind == DecisionKind::Recompute) continue;  // addRecomputed has it
      artifact::ExplainT movement = exportExplanation(decision);
      ExplainRecord& record = explanation.records.emplace_back(base);
      record.subject = decision.subject;
      record.scope = decision.scope;
      record.chosen = decision.chosen;
      record.alternatives = decision.alternatives;
      record.why = ::sgd::artifact::CauseText(movement);
      record.tensorBytes = decision.bytes * executions;
      record.neededBytes = needed.lookup({numCollectives, index});
      record.hiddenSeconds = decision.hiddenSeconds * static_cast<double>(executions);
      record.from = movement.from;
      record.to = movement.to;
      record.steps = ::sgd::artifact::StepText(movement);
      // A bucket is counted once.
      base.bytes = 0, base.seconds = 0;
    }
  }

  /// Schedules run a message in several loops: one record for all of a line and type between two stages.
  void addSend(plan::SendOp send, StringRef program, int64_t stage, uint64_t executions) {
    auto type = cast<MemRefType>(send.getSource().getType());
    std::string location = getSourceLine(send.getLoc()), what;
    llvm::raw_string_ostream os(what);
    os << "stage " << send.getStage() << " reads ";
    for (int64_t size : type.getShape()) os << size << "x";
    os << type.getElementType() << " of stage " << stage;
    auto [known, isNew] =
        sends.try_emplace(program.str() + " " + location + " " + what, Sends{explanation.records.size()});
    if (isNew) {
      ExplainRecord& added = explanation.records.emplace_back();
      added.program = program.str();
      added.location = location;
      added.op = "send";
    }
    ExplainRecord& record = explanation.records[known->second.record];
    known->second.count += executions;
    record.bytes += getByteSize(type) * executions;
    double transit = getTransitSeconds(times.getCost(), stage, static_cast<int64_t>(send.getStage()),
                                       static_cast<double>(getByteSize(type)));
    record.seconds += (times.get(send) + transit) * static_cast<double>(executions);
    record.why = what + ": " + std::to_string(known->second.count) +
                 (known->second.count == 1 ? " message a step" : " messages a step");
  }

  void addRecomputed(plan::InstructionOpInterface instruction, StringRef program, uint64_t executions) {
    std::optional<Decision> again = findDecision(instruction, DecisionKind::Recompute);
    if (!again) return;
    ExplainRecord& record = addRecord(*again, program);
    record.location = getSourceLine(instruction.getLoc());
    record.seconds = again->seconds * static_cast<double>(executions);
    record.flops = static_cast<uint64_t>(getWork(instruction).getFlops()) * executions;
    llvm::raw_string_ostream(record.why) << "for the memory limit, this " << again->chosen
                                         << " runs again: " << record.freedBytes << " bytes are not kept, "
                                         << record.flops << " flops and " << llvm::format("%.3g", record.seconds * 1e6)
                                         << " us more";
  }

  struct Sends {
    size_t record = 0;
    uint64_t count = 0;  // in a step
  };

  OpTimes times;
  uint64_t numCollectives = 0;
  DenseMap<std::pair<uint64_t, size_t>, uint64_t> needed;  // bytes by collective, from 1, and decision
  ExplanationReport explanation;
  std::map<std::string, Sends> sends;  // by program, location, type and stages
};

}  // namespace

ExplanationReport mlir::sgd::computeExplanation(ModuleOp plan, const Topology& topology, const LowerBound& bound) {
  MeshOp meshOp = getMesh(plan);
  MeshAttr mesh = meshOp ? meshOp.getMesh() : MeshAttr::get(plan.getContext(), {});
  Explainer explainer(OpTimes(plan, CostModel(topology, getMeshSizes(mesh))));
  func::FuncOp reported = getReportedFunction(plan);
  for (auto function : plan.getOps<func::FuncOp>())
    if (!function.isPrivate()) {
      if (function == reported) explainer.setBound(matchBound(function, bound));
      auto stage = function->getAttrOfType<IntegerAttr>(kStageAttr);
      explainer.addFunction(function, getProgramName(function), stage ? stage.getInt() : 0, 1);
      explainer.addDecisions(function);
      explainer.addOffloaded(function);
    }
  return explainer.take();
}

void ExplanationReport::print(llvm::raw_ostream& os) const { printSummary(*this, os); }

void ExplanationReport::printAll(llvm::raw_ostream& os) const {
  if (records.empty()) os << "no collectives\n";
  for (const ExplainRecord& record : records) {
    os << (record.location.empty() ? "<unknown>" : record.location) << ": " << record.op;
    if (record.bytes != 0)
      os << ", " << record.bytes << " bytes sent, " << llvm::format("%.3g", record.seconds * 1e6) << " us";
    if (!record.from.empty()) os << ": " << record.from << " -> " << record.to;
    if (!record.steps.empty()) os << " (" << record.steps << ")";
    os << "\n    " << record.why << "\n";
  }
}
