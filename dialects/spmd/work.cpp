// Collectives by what ranks exchange, messages and slices by their bytes.
#include "dialects/spmd/work.h"

#include "dialects/cost/cost_op.h"
#include "dialects/sgd/tensor_type.h"
#include "dialects/spmd/collective.h"
#include "dialects/spmd/ranges.h"

using namespace mlir;
using namespace mlir::spmd;
using mlir::sgd::CostOpInterface;
using mlir::sgd::Exchange;
using mlir::sgd::Work;

namespace {
template <typename Op>
struct CollectiveWork : CostOpInterface::ExternalModel<CollectiveWork<Op>, Op> {
  Work getWork(Operation* op) const { return mlir::sgd::getMoves(op->getOperands(), op->getResults()); }
  std::optional<Exchange> getExchange(Operation* op) const {
    CollectiveForm form = cast<CollectiveOpInterface>(op).getForm();
    Exchange exchange{form.kind, form.group, getCountedBytes(cast<CollectiveOpInterface>(op))};
    if (!form.ranges) return exchange;
    exchange.to = form.to;
    for (auto [range, from, to] :
         llvm::zip(form.ranges.getAsRange<mlir::sgd::RangeAttr>(), op->getOperands(), op->getResults()))
      exchange.loads.push_back(getRangeLoad(range, mlir::sgd::tensorType(from), mlir::sgd::tensorType(to)));
    return exchange;
  }
};

/// A message is copied into its place, or out of it.
template <typename Op>
struct MessageWork : CostOpInterface::ExternalModel<MessageWork<Op>, Op> {
  Work getWork(Operation* op) const {
    Work work = mlir::sgd::getMoves(op->getOperands(), op->getResults());
    work.readBytes = work.writtenBytes = work.getBytes();
    return work;
  }
};

struct ShardSliceWork : CostOpInterface::ExternalModel<ShardSliceWork, ShardSliceOp> {
  Work getWork(Operation* op) const { return mlir::sgd::getMoves(op->getResults(), op->getResults()); }
  bool isFused(Operation*) const { return true; }
};
}  // namespace

template <typename... Ops>
static void attachToCollectives(MLIRContext& context) {
  (Ops::template attachInterface<CollectiveWork<Ops>>(context), ...);
}

void mlir::spmd::attachWork(MLIRContext& context) {
  attachToCollectives<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, CollectivePermuteOp, BroadcastOp,
                      GatherRangeOp>(context);
  SendOp::attachInterface<MessageWork<SendOp>>(context);
  ReceiveOp::attachInterface<MessageWork<ReceiveOp>>(context);
  ShardSliceOp::attachInterface<ShardSliceWork>(context);
}
