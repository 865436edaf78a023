// The pass sgd-verify-channels: the proof of runtime/comm/channel_proof.h over a plan.
#include "dialects/sgd/stages.h"
#include "passes/memory/passes.h"
#include "passes/memory/plan_channels.h"
#include "runtime/comm/channel_proof.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_VERIFYCHANNELSPASS
#include "passes/memory/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using ::sgd::comm::ChannelEvent;
using ::sgd::comm::StageEvents;

namespace {

using Kind = ChannelEvent::Kind;

std::string describe(Operation* op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << (isa<plan::SendOp>(op) ? "send" : "receive") << " at ";
  if (auto at = op->getLoc()->findInstanceOf<FileLineColLoc>())
    stream << at.getFilename().getValue() << ":" << at.getLine() << ":" << at.getColumn();
  else
    stream << "an unknown location";
  return text;
}

/// The events of one stage's function.
class EventCollector {
 public:
  /// `indices` of the program's channels, by number.
  EventCollector(const llvm::DenseMap<int64_t, uint32_t>& indices, std::vector<Operation*>& ops)
      : indices(indices), ops(ops) {}

  LogicalResult add(func::FuncOp function) {
    for (Operation& op : function.front())
      if (failed(add(&op))) return failure();
    return success();
  }

  std::vector<ChannelEvent> events;

 private:
  LogicalResult add(Operation* op) {
    auto addMessage = [&](Kind kind, int64_t channel, MemRefType buffer) {
      events.push_back({.kind = kind,
                        .channel = indices.lookup(channel),
                        .bytes = static_cast<uint64_t>(getByteSize(buffer)),
                        .id = ops.size()});
      ops.push_back(op);
      return success();
    };
    if (auto send = dyn_cast<plan::SendOp>(op))
      return addMessage(Kind::kSend, send.getChannel(), send.getSource().getType());
    if (auto receive = dyn_cast<plan::ReceiveOp>(op))
      return addMessage(Kind::kReceive, receive.getChannel(), receive.getTarget().getType());
    if (!plan::usesChannels(op)) return success();
    auto loop = dyn_cast<plan::LoopOp>(op);
    if (!loop || !loop.getTrips())
      return op->emitOpError()
             << "sends or receives messages as data decides; expected them outside of branches and of "
                "loops whose trips are not known; move them there";
    size_t index = events.size();
    events.push_back({.kind = Kind::kLoop, .trips = static_cast<uint64_t>(plan::getTrips(op))});
    if (failed(add(plan::getCallees(op).front()))) return failure();
    events[index].body = events.size() - index - 1;
    return success();
  }

  const llvm::DenseMap<int64_t, uint32_t>& indices;
  std::vector<Operation*>& ops;
};

struct VerifyChannelsPass : mlir::sgd::impl::VerifyChannelsPassBase<VerifyChannelsPass> {
  void runOnOperation() final {
    FailureOr<std::vector<PlanChannel>> channels = getPlanChannels(getOperation());
    if (failed(channels)) return signalPassFailure();
    for (auto& [name, functions] : getStagePrograms(getOperation()))
      if (failed(checkStages(name, functions)) || failed(prove(name, functions, *channels))) return signalPassFailure();
  }

  /// Stages 0, 1, ... of the mesh, each once.
  LogicalResult checkStages(StringRef name, MutableArrayRef<func::FuncOp> functions) {
    MeshAxisAttr axis = getActiveStageAxis(getMesh(getOperation()));
    if (!axis)
      return functions.front().emitError()
             << "program '" << name << "' has stages, and the mesh has no stage axis in front; expected '"
             << kStagesAttr << "' on it";
    for (auto [stage, function] : llvm::enumerate(functions))
      if (*getStage(function) != static_cast<int64_t>(stage))
        return function.emitError() << "program '" << name << "' has stage " << *getStage(function) << " where stage "
                                    << stage << " is expected; each stage has one function";
    if (static_cast<int64_t>(functions.size()) == axis.getSize()) return success();
    return functions.front().emitError() << "program '" << name << "' has functions for " << functions.size()
                                         << " stages; expected one for each of " << axis.getSize();
  }

  LogicalResult prove(StringRef name, MutableArrayRef<func::FuncOp> functions, std::vector<PlanChannel>& channels) {
    std::vector<::sgd::comm::ChannelShape> shapes;
    llvm::DenseMap<int64_t, uint32_t> indices;
    for (PlanChannel& channel : channels) {
      if (channel.program != name) continue;
      indices[channel.number] = static_cast<uint32_t>(shapes.size());
      shapes.push_back({static_cast<uint32_t>(channel.fromStage), static_cast<uint32_t>(channel.toStage),
                        static_cast<uint32_t>(channel.getDepth())});
    }
    std::vector<Operation*> ops;
    std::vector<StageEvents> stages;
    for (func::FuncOp function : functions) {
      EventCollector collector(indices, ops);
      if (failed(collector.add(function))) return failure();
      stages.push_back({std::move(collector.events), [&ops](uint64_t id) { return describe(ops[id]); }});
    }
    absl::Status status = ::sgd::comm::ProveChannels(shapes, stages);
    if (status.ok()) return success();
    return functions.front().emitError() << "program '" << name << "': " << std::string(status.message());
  }
};

}  // namespace
