// The pass sgd-shard-messages.
#include <cmath>
#include <map>

#include "dialects/sgd/decision.h"
#include "dialects/sgd/stages.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "passes/spmd/collectives/rank_differences.h"
#include "passes/spmd/partition/reshard_emitter.h"
#include "passes/time/stages/message_parts.h"
#include "passes/time/stages/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SHARDMESSAGESPASS
#include "passes/time/stages/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// The messages of a channel, which are cut alike.
struct Channel {
  func::FuncOp sender;
  SmallVector<spmd::SendOp> sends;
  SmallVector<spmd::ReceiveOp> receives;

  /// Whether it has messages, all of them of one type. sgd-verify-channels refuses others.
  bool isProper() const {
    return !sends.empty() &&
           llvm::all_of(sends, [&](spmd::SendOp send) { return send.getInput().getType() == getType(); }) &&
           llvm::all_of(receives, [&](spmd::ReceiveOp receive) { return receive.getType() == getType(); });
  }
  RankedTensorType getType() const { return cast<RankedTensorType>(spmd::SendOp(sends.front()).getInput().getType()); }
};

/// Of one program.
class MessageSharding {
 public:
  MessageSharding(ArrayRef<func::FuncOp> stages, MeshOp mesh, const CostModel& cost);

  /// `differences` of the program's messages.
  void run(const RankDifferences::Messages& differences);

 private:
  AxisParts getReplicated(const AxisParts& different) const;
  void cut(const Channel& channel, const MessageParts& parts);
  Value gather(OpBuilder& builder, spmd::ReceiveOp receive, RankedTensorType type, const MessageParts& parts);
  Decision describe(const Channel& channel, const AxisParts& replicated, const MessageParts& parts) const;

  ArrayRef<func::FuncOp> stages;
  FlatSymbolRefAttr meshName;
  MeshAttr mesh;
  const CostModel& cost;
  llvm::MapVector<int64_t, Channel> channels;
};
}  // namespace

MessageSharding::MessageSharding(ArrayRef<func::FuncOp> stages, MeshOp mesh, const CostModel& cost)
    : stages(stages), meshName(FlatSymbolRefAttr::get(mesh.getSymNameAttr())), mesh(mesh.getMesh()), cost(cost) {
  for (func::FuncOp function : stages)
    function.walk([&](Operation* op) {
      if (auto send = dyn_cast<spmd::SendOp>(op)) {
        Channel& channel = channels[send.getChannel()];
        channel.sender = function;
        channel.sends.push_back(send);
      } else if (auto receive = dyn_cast<spmd::ReceiveOp>(op)) {
        channels[receive.getChannel()].receives.push_back(receive);
      }
    });
}

/// The axes of a stage's ranks but for `different`, in the mesh's order.
AxisParts MessageSharding::getReplicated(const AxisParts& different) const {
  AxisParts all;
  for (auto [index, axis] : llvm::enumerate(mesh.getAxes()))
    if (index > 0 && axis.getSize() > 1) all.push_back({static_cast<unsigned>(index), 1, axis.getSize()});
  return difference(all, different);
}

/// As one dimension, where no dimension is cut.
static Value flatten(OpBuilder& builder, Value value, const MessageParts& parts) {
  auto type = cast<RankedTensorType>(value.getType());
  if (parts.dim) return value;
  return ReshapeOp::create(builder, value.getLoc(), type.clone({type.getNumElements()}), value);
}

static RankedTensorType getPartType(RankedTensorType type, const MessageParts& parts) {
  if (!parts.dim) return type.clone({type.getNumElements() / parts.getCount()});
  SmallVector<int64_t> shape(type.getShape());
  shape[*parts.dim] /= parts.getCount();
  return type.clone(shape);
}

static std::string getText(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Value MessageSharding::gather(OpBuilder& builder, spmd::ReceiveOp receive, RankedTensorType type,
                              const MessageParts& parts) {
  RankedTensorType gathered = parts.dim ? type : type.clone({type.getNumElements()});
  AxisListAttr axes = getAxisList(meshName, mesh, parts.axes);
  auto gather = spmd::AllGatherOp::create(builder, receive.getLoc(), TypeRange{gathered}, receive.getResult(),
                                          ArrayRef<int64_t>{parts.dim.value_or(0)}, axes);
  auto bytes = static_cast<uint64_t>(getByteSize(type));
  Decision decision = Decision::at(DecisionKind::Movement, receive.getLoc());
  decision.subject = getText(type);
  decision.chosen = "all_gather";
  decision.bytes = CostModel::getSentBytes(CollectiveKind::kAllGather, parts.axes, bytes);
  decision.seconds = cost.getCollectiveSeconds(CollectiveKind::kAllGather, parts.axes, bytes);
  decision.movement = Movement{.cause = MovementCause::User,
                               .op = spmd::ReceiveOp::getOperationName().str(),
                               .from = "a part of the message for each rank",
                               .to = "the whole"};
  setDecisions(gather, decision);
  Value whole = gather.getResult(0);
  return parts.dim ? whole : ReshapeOp::create(builder, receive.getLoc(), type, whole);
}

void MessageSharding::cut(const Channel& channel, const MessageParts& parts) {
  RankedTensorType type = channel.getType();
  for (spmd::SendOp send : channel.sends) {
    OpBuilder builder(send);
    Value whole = flatten(builder, send.getInput(), parts);
    Value part = spmd::ShardSliceOp::create(builder, send.getLoc(), getPartType(type, parts), whole,
                                            parts.dim.value_or(0), getAxisList(meshName, mesh, parts.axes));
    send.getInputMutable().assign(part);
  }
  for (spmd::ReceiveOp receive : channel.receives) {
    Value result = receive.getResult();
    result.setType(getPartType(type, parts));
    OpBuilder builder(receive->getContext());
    builder.setInsertionPointAfter(receive);
    SmallVector<OpOperand*> uses(llvm::make_pointer_range(result.getUses()));
    Value whole = gather(builder, receive, type, parts);
    for (OpOperand* use : uses) use->set(whole);
  }
}

Decision MessageSharding::describe(const Channel& channel, const AxisParts& replicated,
                                   const MessageParts& parts) const {
  spmd::SendOp send = channel.sends.front();
  RankedTensorType type = channel.getType();
  Decision decision = Decision::at(DecisionKind::Message, send.getLoc());
  decision.subject = getText(type);
  decision.chosen = parts.isCut() ? "parts" : "whole";
  decision.alternatives = {{.name = "whole", .seconds = parts.wholeSeconds}};
  if (std::isinf(parts.partSeconds))
    decision.alternatives.push_back({.name = "parts", .why = "its elements do not divide"});
  else
    decision.alternatives.push_back({.name = "parts", .seconds = parts.partSeconds});
  llvm::raw_string_ostream os(decision.why);
  os << getText(type) << " to stage " << send.getStage() << ", which ranks over "
     << getAxisList(meshName, mesh, parts.isCut() ? parts.axes : replicated) << " have alike: ";
  if (parts.isCut())
    os << "each sends one of " << parts.getCount() << " parts" << (parts.dim ? "" : " of its elements")
       << ", which stage " << send.getStage() << " gathers, in "
       << llvm::format("%.3g us instead of %.3g", parts.partSeconds * 1e6, parts.wholeSeconds * 1e6);
  else if (std::isinf(parts.partSeconds))
    os << "each sends all " << type.getNumElements() << " elements, which do not divide";
  else
    os << "each sends the whole in "
       << llvm::format("%.3g us; parts and gathering them would take %.3g", parts.wholeSeconds * 1e6,
                       parts.partSeconds * 1e6);
  return decision;
}

void MessageSharding::run(const RankDifferences::Messages& differences) {
  std::string program = getProgramName(stages.front()).str();
  // By sending stage: those that say the same, and how often.
  llvm::MapVector<Operation*, std::map<std::string, std::pair<Decision, unsigned>>> decisions;
  for (auto& [number, channel] : channels) {
    if (!channel.isProper()) continue;
    auto different = differences.find({program, number});
    AxisParts replicated = getReplicated(different == differences.end() ? AxisParts() : different->second);
    if (replicated.empty() || channel.getType().getNumElements() <= 1) continue;
    auto to = static_cast<int64_t>(channel.sends.front().getStage());
    MessageParts parts = chooseMessageParts(channel.getType(), *getStage(channel.sender), to, replicated, cost);
    Decision decision = describe(channel, replicated, parts);
    ++decisions[channel.sender].try_emplace(decision.why, decision, 0).first->second.second;
    if (parts.isCut()) cut(channel, parts);
  }
  for (auto& [function, alike] : decisions)
    for (auto& [text, counted] : alike) {
      auto& [decision, count] = counted;
      if (count > 1) decision.why = std::to_string(count) + " times " + text;
      addDecision(function, decision);
    }
}

namespace {
struct ShardMessagesPass : mlir::sgd::impl::ShardMessagesPassBase<ShardMessagesPass> {
  using ShardMessagesPassBase::ShardMessagesPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!getActiveStageAxis(mesh) || mesh.getMesh().getAxes().size() == 1) return;
    FailureOr<CostModel> cost = loadCostModel(mesh, topology);
    if (failed(cost)) return signalPassFailure();
    RankDifferences::Messages differences = RankDifferences::findMessages(getOperation(), mesh.getMesh());
    for (auto& [_, stages] : getStagePrograms(getOperation())) MessageSharding(stages, mesh, *cost).run(differences);
  }
};
}  // namespace
