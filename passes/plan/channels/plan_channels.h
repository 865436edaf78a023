// The channels of a plan-level module: what its functions send and receive.
#ifndef SGD_PASSES_PLAN_CHANNELS_PLAN_CHANNELS_H
#define SGD_PASSES_PLAN_CHANNELS_PLAN_CHANNELS_H

#include <string>
#include <vector>

#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// One channel: the ops at its ends, of which all are alike.
struct PlanChannel {
  std::string program;
  int64_t number = 0;  ///< in its program
  int64_t fromStage = 0, toStage = 0;
  SmallVector<plan::SendOp> sends;
  SmallVector<plan::ReceiveOp> receives;

  int64_t getDepth();
  int64_t getMessageBytes();
  /// Returns the bytes of the mailbox in the receiver's window.
  uint64_t getMailboxBytes();
};

/// The channels of all programs, by program and number. Errors where an end is missing, or ops of one end differ in
/// stage, size or depth.
FailureOr<std::vector<PlanChannel>> getPlanChannels(ModuleOp plan);

/// `visit` every op of `function` and of what it runs, in the order of the program.
void walkProgram(func::FuncOp function, llvm::function_ref<void(Operation*)> visit);

}  // namespace mlir::sgd

#endif
