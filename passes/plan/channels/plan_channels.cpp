#include "passes/plan/channels/plan_channels.h"

#include <map>

#include "dialects/sgd/stages.h"
#include "passes/plan/channels/passes.h"
#include "runtime/comm/collectives/channel.h"

using namespace mlir;
using namespace mlir::sgd;

int64_t PlanChannel::getDepth() { return sends.front().getDepth(); }

int64_t PlanChannel::getMessageBytes() { return getByteSize(sends.front().getSource().getType()); }

uint64_t PlanChannel::getMailboxBytes() {
  return ::sgd::comm::MailboxBytes(getMessageBytes(), static_cast<uint32_t>(getDepth())).value_or(0);
}

void mlir::sgd::walkProgram(func::FuncOp function, llvm::function_ref<void(Operation*)> visit) {
  for (Operation& op : function.front()) {
    visit(&op);
    for (func::FuncOp callee : plan::getCallees(&op)) walkProgram(callee, visit);
  }
}

namespace {

using Key = std::pair<std::string, int64_t>;

/// Notes a send or receive that stage `own` does.
template <typename OpTy>
LogicalResult addEnd(OpTy op, StringRef program, int64_t own, bool sends, std::map<Key, PlanChannel>& channels) {
  int64_t number = op.getChannel(), from = sends ? own : op.getStage(), to = sends ? op.getStage() : own;
  auto [it, isNew] = channels.try_emplace({program.str(), number});
  PlanChannel& channel = it->second;
  if (isNew) channel = {program.str(), number, from, to, {}, {}};
  if (channel.fromStage == from && channel.toStage == to) return success();
  return op.emitOpError() << "connects stage " << from << " with stage " << to << " by channel " << number
                          << ", which connects stage " << channel.fromStage << " with stage " << channel.toStage
                          << "; expected one pair of stages; number channels by value and stages";
}

LogicalResult checkEnds(PlanChannel& channel) {
  auto refuse = [&](Operation* op, StringRef what) {
    return op->emitOpError() << what << " channel " << channel.number << " from stage " << channel.fromStage
                             << " to stage " << channel.toStage;
  };
  if (channel.receives.empty())
    return refuse(channel.sends.front(), "sends what nothing receives: no op is the other end of");
  if (channel.sends.empty())
    return refuse(channel.receives.front(), "receives what nothing sends: no op is the other end of");
  for (plan::SendOp send : channel.sends)
    if (static_cast<int64_t>(send.getDepth()) != channel.getDepth() ||
        getByteSize(send.getSource().getType()) != channel.getMessageBytes())
      return refuse(send, "has another depth or size than other sends to");
  for (plan::ReceiveOp receive : channel.receives)
    if (getByteSize(receive.getTarget().getType()) != channel.getMessageBytes())
      return refuse(receive, "expects messages of another size than those of");
  if (channel.getMailboxBytes() == 0) return refuse(channel.sends.front(), "has messages of more than 2^36 bytes for");
  return success();
}

}  // namespace

FailureOr<std::vector<PlanChannel>> mlir::sgd::getPlanChannels(ModuleOp plan) {
  std::map<Key, PlanChannel> byKey;
  bool isValid = true;
  for (auto function : plan.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal()) continue;
    std::optional<int64_t> stage = getStage(function);
    StringRef program = getProgramName(function);
    walkProgram(function, [&](Operation* op) {
      if (!isValid || !isa<plan::SendOp, plan::ReceiveOp>(op)) return;
      if (!stage) {
        op->emitOpError() << "is in a function without a stage; expected '" << kStageAttr << "' on the function";
        isValid = false;
      } else if (auto send = dyn_cast<plan::SendOp>(op)) {
        isValid = succeeded(addEnd(send, program, *stage, /*sends=*/true, byKey));
        if (isValid) byKey[{program.str(), send.getChannel()}].sends.push_back(send);
      } else if (auto receive = dyn_cast<plan::ReceiveOp>(op)) {
        isValid = succeeded(addEnd(receive, program, *stage, /*sends=*/false, byKey));
        if (isValid) byKey[{program.str(), receive.getChannel()}].receives.push_back(receive);
      }
    });
    if (!isValid) return failure();
  }
  std::vector<PlanChannel> channels;
  for (auto& [_, channel] : byKey) {
    if (failed(checkEnds(channel))) return failure();
    channels.push_back(std::move(channel));
  }
  return channels;
}
