// The pass spmd-settle-control-flow. A decision that a rank makes alone needs no agreement as long as nothing in the
// region waits for others; otherwise all ranks run the region together.
#include "dialects/sgd/by_rank.h"
#include "dialects/spmd/collective.h"
#include "passes/spmd/collectives/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SETTLECONTROLFLOWPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static bool hasCollective(Region& region) {
  return region
      .walk([](Operation* op) {
        return isa<spmd::CollectiveOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static Value createSplat(OpBuilder& builder, Location loc, Type type, int64_t number) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute element = builder.getIntegerAttr(tensor.getElementType(), number);
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(tensor, element));
}

static bool hasOneElement(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements() == 1; }

/// The value whose only element is that of `value`.
static Value getSource(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (!movesOneTensor(op) || !hasOneElement(op->getOperand(0))) break;
    value = op->getOperand(0);
  }
  return value;
}

/// In the block of `argument` it is always `number`.
static void replaceByConstant(BlockArgument argument, int64_t number) {
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  auto replace = [&](Value value) {
    if (!value.use_empty()) value.replaceAllUsesWith(createSplat(builder, argument.getLoc(), value.getType(), number));
  };
  for (Operation* user : argument.getUsers())
    if (isa<BroadcastInDimOp>(user)) replace(user->getResult(0));
  replace(argument);
}

/// The rank's only coordinate takes its branch.
static void takeOwnBranch(CaseOp branches) {
  OpBuilder builder(branches);
  Value index = branches.getIndex();
  for (auto [branch, region] : llvm::enumerate(branches.getBranches()))
    for (auto [argument, input] : llvm::zip(region.getArguments(), branches.getInputs()))
      if (hasOneElement(input) && getSource(input) == getSource(index)) replaceByConstant(argument, branch);
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  branches.getIndexMutable().assign(ReshapeOp::create(builder, branches.getLoc(), scalar, index));
  setByRank(branches, true);
}

/// Every branch is computed; each coordinate takes its own one's results.
static void computeAllBranches(CaseOp branches) {
  OpBuilder builder(branches);
  Location loc = branches.getLoc();
  SmallVector<Value> chosen;
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(branches.getIndex().getType()).getRank()));
  for (auto [branch, region] : llvm::enumerate(branches.getBranches())) {
    Block& block = region.front();
    for (auto [argument, input] : llvm::zip(block.getArguments(), branches.getInputs()))
      argument.replaceAllUsesWith(input);
    SmallVector<Value> yielded(block.getTerminator()->getOperands());
    block.getTerminator()->erase();
    branches->getBlock()->getOperations().splice(branches->getIterator(), block.getOperations());
    if (chosen.empty()) {
      chosen = yielded;
      continue;
    }
    // An index without a branch takes the last one.
    bool isLast = branch + 1 == branches.getBranches().size();
    Value number = createSplat(builder, loc, branches.getIndex().getType(), branch);
    Value isOwn = arith::CmpIOp::create(builder, loc, isLast ? arith::CmpIPredicate::uge : arith::CmpIPredicate::eq,
                                        branches.getIndex(), number);
    for (auto [value, other] : llvm::zip(chosen, yielded)) {
      auto type = cast<RankedTensorType>(value.getType());
      Value mask = BroadcastInDimOp::create(builder, loc, type.clone(builder.getI1Type()), isOwn, dims);
      value = arith::SelectOp::create(builder, loc, mask, other, value);
    }
  }
  branches.replaceAllUsesWith(chosen);
  branches.erase();
}

/// The condition without the agreement of all ranks; false when more than that is asked of others in it.
static bool decideAlone(Region& condition) {
  SmallVector<Operation*> collectives;
  condition.walk([&](Operation* op) {
    if (isa<spmd::CollectiveOpInterface>(op)) collectives.push_back(op);
  });
  auto isAgreement = [](Operation* op) {
    auto reduce = dyn_cast<spmd::AllReduceOp>(op);
    return reduce && reduce.getKind() == ReduceKind::Or;
  };
  if (!llvm::all_of(collectives, isAgreement)) return false;
  for (Operation* agreement : collectives) {
    agreement->replaceAllUsesWith(agreement->getOperands());
    agreement->erase();
  }
  return true;
}

/// Ranks make trips of their own, or as many as the one that makes most.
static void settleLoop(WhileOp loop) {
  if (hasCollective(loop.getBody()) || !decideAlone(loop.getCondition())) {
    setByRank(loop, false);
    return;
  }
  // The body runs only while the rank goes on: with one coordinate, the predicate that it carries is true in there.
  for (BlockArgument argument : loop.getCondition().getArguments())
    if (!argument.use_empty() && hasOneElement(argument))
      replaceByConstant(loop.getBody().getArgument(argument.getArgNumber()), 1);
}

namespace {
struct SettleControlFlowPass : mlir::sgd::impl::SettleControlFlowPassBase<SettleControlFlowPass> {
  void runOnOperation() override {
    // Inner ones first: once they are settled, the ones around them know what is left in them.
    SmallVector<Operation*> ops;
    getOperation().walk<WalkOrder::PostOrder>([&](Operation* op) {
      auto loop = dyn_cast<WhileOp>(op);
      auto branches = dyn_cast<CaseOp>(op);
      if ((loop && isByRank(loop)) || (branches && choosesByCoordinate(branches))) ops.push_back(op);
    });
    for (Operation* op : ops) {
      if (auto loop = dyn_cast<WhileOp>(op)) {
        settleLoop(loop);
        ++(isByRank(loop) ? numByRank : numTogether);
        continue;
      }
      auto branches = cast<CaseOp>(op);
      bool isAlone = hasOneElement(branches.getIndex()) && llvm::none_of(branches.getBranches(), hasCollective);
      isAlone ? takeOwnBranch(branches) : computeAllBranches(branches);
      ++(isAlone ? numByRank : numTogether);
    }
  }
};
}  // namespace
