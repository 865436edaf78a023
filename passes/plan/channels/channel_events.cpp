// Events of plan-level functions, in the order of the program.
#include "passes/plan/channels/channel_events.h"

using namespace mlir;
using namespace mlir::sgd;
using ::sgd::comm::ChannelEvent;

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
  explicit EventCollector(const llvm::DenseMap<int64_t, uint32_t>& indices) : indices(indices) {}

  LogicalResult add(func::FuncOp function) {
    for (Operation& op : function.front())
      if (failed(add(&op))) return failure();
    return success();
  }

  std::vector<ChannelEvent> events;
  std::vector<Operation*> ops;  // sends and receives, by id

 private:
  LogicalResult add(Operation* op) {
    if (auto send = dyn_cast<plan::SendOp>(op))
      return addMessage(op, Kind::kSend, send.getChannel(), send.getSource().getType());
    if (auto receive = dyn_cast<plan::ReceiveOp>(op))
      return addMessage(op, Kind::kReceive, receive.getChannel(), receive.getTarget().getType());
    if (!plan::usesChannels(op)) return success();
    auto loop = dyn_cast<plan::LoopOp>(op);
    if (!loop || !loop.getTrips())
      return op->emitOpError()
             << "sends or receives messages as data decides; expected them outside of branches and of loops whose "
                "trips are not known; move them there";
    size_t index = events.size();
    events.push_back({.kind = Kind::kLoop, .trips = static_cast<uint64_t>(plan::getTrips(op))});
    if (failed(add(plan::getCallees(op).front()))) return failure();
    events[index].body = events.size() - index - 1;
    return success();
  }

  LogicalResult addMessage(Operation* op, Kind kind, int64_t channel, MemRefType buffer) {
    events.push_back({.kind = kind,
                      .channel = indices.lookup(channel),
                      .bytes = static_cast<uint64_t>(getByteSize(buffer)),
                      .id = ops.size()});
    ops.push_back(op);
    return success();
  }

  const llvm::DenseMap<int64_t, uint32_t>& indices;
};

}  // namespace

FailureOr<ChannelEvents> mlir::sgd::getChannelEvents(StringRef name, ArrayRef<func::FuncOp> functions,
                                                     std::vector<PlanChannel>& channels) {
  ChannelEvents result;
  llvm::DenseMap<int64_t, uint32_t> indices;
  for (PlanChannel& channel : channels) {
    if (channel.program != name) continue;
    indices[channel.number] = static_cast<uint32_t>(result.channels.size());
    result.channels.push_back({static_cast<uint32_t>(channel.fromStage), static_cast<uint32_t>(channel.toStage),
                               static_cast<uint32_t>(channel.getDepth())});
  }
  for (func::FuncOp function : functions) {
    EventCollector collector(indices);
    if (failed(collector.add(function))) return failure();
    result.stages.push_back(
        {std::move(collector.events), [ops = std::move(collector.ops)](uint64_t id) { return describe(ops[id]); }});
  }
  return result;
}
