// Explanations are attached by the passes that insert collectives; here they are collected.
#include "compiler/report/explain.h"

#include <map>

#include "compiler/export/export_explanation.h"
#include "compiler/export/export_program.h"
#include "compiler/locations.h"
#include "compiler/report/offloaded.h"
#include "dialects/sgd/stages.h"
#include "llvm/Support/Format.h"
#include "passes/choice/choice_attr.h"
#include "passes/collectives/update_decision.h"
#include "passes/compress/compression_decision.h"
#include "passes/context/context_decision.h"
#include "passes/cost/message_cost.h"
#include "passes/partition/sharding_state.h"
#include "passes/hoist/hoisted_attr.h"
#include "passes/prefetch/prefetched_attr.h"
#include "passes/remat/recomputed_attr.h"
#include "passes/rings/rings_attr.h"
#include "passes/schedule/packed_weights_attr.h"
#include "passes/stages/message_parts.h"
#include "passes/timing/op_times.h"
#include "runtime/artifact/explain_text.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Walks the programs of a plan.
class Explainer {
 public:
  explicit Explainer(const OpTimes& times) : times(times) {}

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

  /// Which updates of state ranks share, and why they do not share others.
  void addUpdates(func::FuncOp function) {
    auto updates = function->getAttrOfType<ArrayAttr>(kUpdatesAttr);
    for (Attribute update : updates ? updates.getValue() : ArrayRef<Attribute>()) {
      std::optional<UpdateDecision> decision = UpdateDecision::fromAttr(update);
      if (!decision) continue;
      ExplainRecord& record = explanation.records.emplace_back();
      record.program = getProgramName(function).str();
      record.location = decision->source;
      record.op = "update";
      record.why = decision->getText();
    }
  }

  /// Sentences about loops or matmuls that hide communication, or about messages.
  void addHidden(func::FuncOp function, StringRef attribute, StringRef op) {
    auto sentences = function->getAttrOfType<ArrayAttr>(attribute);
    for (Attribute sentence : sentences ? sentences.getValue() : ArrayRef<Attribute>()) {
      ExplainRecord& record = explanation.records.emplace_back();
      record.program = getProgramName(function).str();
      record.op = op;
      record.why = cast<StringAttr>(sentence).str();
    }
  }

  /// The form that the whole program was given, where it is not the one that its annotations alone make.
  void addChoice(func::FuncOp function) {
    auto choice = function->getAttrOfType<StringAttr>(kChoiceAttr);
    if (!choice) return;
    ExplainRecord& record = explanation.records.emplace_back();
    record.program = getProgramName(function).str();
    record.op = "choice";
    record.why = choice.str();
  }

  /// How attention is computed whose positions are sharded.
  void addAttentions(func::FuncOp function) {
    auto attentions = function->getAttrOfType<ArrayAttr>(kAttentionsAttr);
    for (Attribute attention : attentions ? attentions.getValue() : ArrayRef<Attribute>()) {
      std::optional<ContextDecision> decision = ContextDecision::fromAttr(attention);
      if (!decision) continue;
      ExplainRecord& record = explanation.records.emplace_back();
      record.program = getProgramName(function).str();
      record.location = decision->source;
      record.op = "attention";
      record.why = decision->getText();
    }
  }

  /// How reductions of gradients are compressed, and why others are not.
  void addCompressions(func::FuncOp function) {
    for (const CompressionDecision& decision : getCompressions(function)) {
      ExplainRecord& record = explanation.records.emplace_back();
      record.program = getProgramName(function).str();
      record.location = decision.source;
      record.op = "compression";
      record.why = decision.getText();
    }
  }

  /// What is in the host's memory meanwhile.
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

  /// What loops compute again.
  void addRecomputedInLoops(func::FuncOp function) {
    for (const RecomputedInLoop& one : getRecomputedInLoops(function)) {
      ExplainRecord& record = explanation.records.emplace_back();
      record.program = getProgramName(function).str();
      record.location = one.source;
      record.op = "recompute";
      record.seconds = one.seconds;
      record.freedBytes = one.freedBytes;
      record.flops = one.flops;
      llvm::raw_string_ostream why(record.why);
      if (one.sentBytes > 0)
        why << "for the memory limit, a loop runs this " << one.what << " in each iteration: " << one.freedBytes
            << " bytes are not held through it, " << one.sentBytes << " bytes are sent and ";
      else
        why << "for the memory limit, a loop computes this again in each iteration: " << one.freedBytes
            << " bytes are not stacked, " << one.flops << " flops and ";
      why << llvm::format("%.3g", one.seconds * 1e6) << " us more";
    }
  }

  ExplanationReport take() { return std::move(explanation); }

 private:
  void addCollective(plan::CollectiveOp collective, StringRef program, uint64_t executions) {
    ExplainRecord base;
    base.program = program.str();
    base.location = getUserLocation(collective.getLoc());
    base.op = ::sgd::comm::CollectiveName(collective.getKind());
    base.bytes = getSentBytes(collective) * executions;
    base.seconds = times.get(collective) * static_cast<double>(executions);
    std::vector<artifact::ExplainT> movements = exportExplanations(collective);
    if (getExplanations(collective).empty()) {
      base.why = "the program asks for it";
      explanation.records.push_back(base);
      base.bytes = 0, base.seconds = 0;
    }
    for (const artifact::ExplainT& movement : movements) {
      ExplainRecord& record = explanation.records.emplace_back(base);
      record.why = ::sgd::artifact::CauseText(movement);
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
    std::string location = getUserLocation(send.getLoc()), what;
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
    std::optional<Recomputed> again = getRecomputed(instruction);
    if (!again) return;
    ExplainRecord& record = explanation.records.emplace_back();
    record.program = program.str();
    record.location = getUserLocation(instruction.getLoc());
    record.op = "recompute";
    record.seconds = again->seconds * static_cast<double>(executions);
    record.freedBytes = again->freedBytes;
    record.flops = static_cast<uint64_t>(getWork(instruction).getFlops()) * executions;
    llvm::raw_string_ostream(record.why) << "for the memory limit, this " << again->what
                                         << " runs again: " << record.freedBytes << " bytes are not kept, "
                                         << record.flops << " flops and " << llvm::format("%.3g", record.seconds * 1e6)
                                         << " us more";
  }

  struct Sends {
    size_t record = 0;
    uint64_t count = 0;  // in a step
  };

  OpTimes times;
  ExplanationReport explanation;
  std::map<std::string, Sends> sends;  // by program, location, type and stages
};

}  // namespace

ExplanationReport mlir::sgd::computeExplanation(ModuleOp plan, const Topology& topology) {
  MeshOp meshOp = getMesh(plan);
  MeshAttr mesh = meshOp ? meshOp.getMesh() : MeshAttr::get(plan.getContext(), {});
  Explainer explainer(OpTimes(plan, CostModel(topology, getMeshSizes(mesh))));
  for (auto function : plan.getOps<func::FuncOp>())
    if (!function.isPrivate()) {
      auto stage = function->getAttrOfType<IntegerAttr>(kStageAttr);
      explainer.addFunction(function, getProgramName(function), stage ? stage.getInt() : 0, 1);
      explainer.addChoice(function);
      explainer.addHidden(function, kHoistedAttr, "hoist");
      explainer.addHidden(function, kPackedWeightsAttr, "pack");
      explainer.addHidden(function, kPrefetchedAttr, "prefetch");
      explainer.addHidden(function, kRingsAttr, "ring");
      explainer.addHidden(function, kMessagesAttr, "message");
      explainer.addUpdates(function);
      explainer.addAttentions(function);
      explainer.addOffloaded(function);
      explainer.addRecomputedInLoops(function);
      explainer.addCompressions(function);
    }
  return explainer.take();
}

void ExplanationReport::print(llvm::raw_ostream& os) const {
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
