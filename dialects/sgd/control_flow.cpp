// Verifiers of loops and branches, and the walk over the blocks of a program.
#include "dialects/sgd/by_rank.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr char kCondition[] =
    "has a condition that does not yield one boolean; expected a scalar i1; compare the values";

/// The block takes `arguments` and ends in a yield of `yielded`.
static LogicalResult verifyBlock(Operation* op, Block& block, StringRef name, TypeRange arguments, TypeRange yielded) {
  if (block.getArgumentTypes() != arguments)
    return op->emitOpError() << name << " has arguments of the types " << block.getArgumentTypes() << "; expected "
                             << arguments << ", as the operands have; correct the block arguments";
  auto yield = dyn_cast_or_null<YieldOp>(block.mightHaveTerminator() ? block.getTerminator() : nullptr);
  if (!yield) return op->emitOpError() << name << " does not end in sgd.yield; expected it last; add it";
  if (yield.getOperandTypes() != yielded)
    return op->emitOpError() << name << " yields the types " << yield.getOperandTypes() << "; expected " << yielded
                             << ", as the results have; correct the yielded values";
  return success();
}

static bool isScalar(Type type, unsigned bits) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && tensor.getElementType().isInteger(bits);
}

void WhileOp::build(OpBuilder& builder, OperationState& state, ValueRange inits, std::optional<int64_t> trips,
                    function_ref<SmallVector<Value>(OpBuilder&, ValueRange)> body) {
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  if (trips) state.getOrAddProperties<Properties>().trips = builder.getI64IntegerAttr(*trips);
  state.addRegion();
  Region& region = *state.addRegion();
  if (!body) return;
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(inits.size(), state.location);
  Block* block = builder.createBlock(&region, {}, inits.getTypes(), locations);
  YieldOp::create(builder, state.location, body(builder, block->getArguments()));
}

void WhileOp::build(OpBuilder& builder, OperationState& state, WhileOp like, ValueRange inits) {
  build(builder, state, inits, like.getTrips());
  for (NamedAttribute attribute : like->getDiscardableAttrs())
    state.addAttribute(attribute.getName(), attribute.getValue());
}

// StableHLO spec, while (C1) to (C3).
LogicalResult WhileOp::verify() {
  TypeRange iterArgs = getInits().getTypes();
  if (iterArgs != TypeRange(getResultTypes()))
    return emitOpError() << "has results of the types " << getResultTypes() << "; expected the operands' " << iterArgs
                         << "; correct the results";
  if (failed(verifyBlock(*this, getBody().front(), "the body", iterArgs, iterArgs))) return failure();
  if (getCondition().empty() != getTrips().has_value())
    return emitOpError(getTrips() ? "has trips and a condition; expected one of them; drop one"
                                  : "has neither trips nor a condition; expected one of them; add one");
  if (getTrips() && isByRank(*this))
    return emitOpError("has trips, as many on all ranks, and sgd.by_rank; expected one of them; drop one");
  if (getTrips())
    return *getTrips() >= 0 ? success()
                            : emitOpError() << "has " << *getTrips() << " trips; expected 0 or more; correct trips";
  Block& condition = getCondition().front();
  if (condition.empty() || condition.back().getNumOperands() != 1) return emitOpError(kCondition);
  TypeRange yielded = condition.back().getOperandTypes();
  if (failed(verifyBlock(*this, condition, "the condition", iterArgs, yielded))) return failure();
  return isScalar(yielded.front(), 1) ? success() : emitOpError(kCondition);
}

namespace {

/// Removes iter_args that a loop does not change, and iter_args that nothing in it reads.
struct DropIdleIterArgs : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WhileOp loop, PatternRewriter& rewriter) const override {
    bool hasForwarded = false;
    for (OpResult result : loop->getResults()) {
      unsigned iterArg = result.getResultNumber();
      if (!loop.isInvariant(iterArg) || result.use_empty()) continue;
      rewriter.replaceAllUsesWith(result, loop.getInits()[iterArg]);
      hasForwarded = true;
    }
    llvm::BitVector isIdle = getIdleIterArgs(loop);
    if (isIdle.none()) return success(hasForwarded);
    removeIterArgs(loop, isIdle, rewriter);
    return success();
  }

  /// Iter_args from which no used result, nor the condition, nor an op with effects can be reached.
  static llvm::BitVector getIdleIterArgs(WhileOp loop) {
    llvm::BitVector isIdle(loop.getNumResults(), true);
    SmallPtrSet<Operation*, 32> needed;
    SmallVector<Value> work;
    auto needIterArg = [&](unsigned iterArg) {
      if (!isIdle[iterArg]) return;
      isIdle.reset(iterArg);
      work.push_back(loop.getYielded()[iterArg]);
    };
    for (OpResult result : loop->getResults())
      if (!result.use_empty()) needIterArg(result.getResultNumber());
    if (!loop.getCondition().empty())
      for (BlockArgument argument : loop.getCondition().getArguments())
        if (!argument.use_empty()) needIterArg(argument.getArgNumber());
    for (Operation& op : loop.getBody().front().without_terminator())
      if (!isMemoryEffectFree(&op)) llvm::append_range(work, op.getOperands());
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value))
        needIterArg(argument.getArgNumber());
      else if (needed.insert(value.getDefiningOp()).second)
        llvm::append_range(work, value.getDefiningOp()->getOperands());
    }
    return isIdle;
  }

  static void eraseDead(Block& block, PatternRewriter& rewriter) {
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) rewriter.eraseOp(&op);
  }

  static void removeIterArgs(WhileOp loop, const llvm::BitVector& isIdle, PatternRewriter& rewriter) {
    SmallVector<Value> inits, kept;
    for (auto [iterArg, init] : llvm::enumerate(loop.getInits()))
      if (!isIdle[iterArg]) inits.push_back(init), kept.push_back(loop.getResult(iterArg));
    auto smaller = WhileOp::create(rewriter, loop.getLoc(), loop, inits);
    rewriter.modifyOpInPlace(loop, [&] {
      loop.getBody().front().getTerminator()->eraseOperands(isIdle);
      eraseDead(loop.getBody().front(), rewriter);
      for (Region& region : loop->getRegions())
        if (!region.empty()) region.front().eraseArguments(isIdle);
    });
    for (auto [from, to] : llvm::zip(loop->getRegions(), smaller->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    for (auto [from, to] : llvm::zip(kept, smaller.getResults())) rewriter.replaceAllUsesWith(from, to);
    rewriter.eraseOp(loop);
  }
};

}  // namespace

void WhileOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext* context) {
  patterns.add<DropIdleIterArgs>(context);
}

// StableHLO spec, case (C1) to (C4).
LogicalResult CaseOp::verify() {
  auto index = cast<RankedTensorType>(getIndex().getType());
  if (!index.getElementType().isInteger(32))
    return emitOpError() << "has the index " << index
                         << "; expected a scalar i32, or one i32 per coordinate; convert it";
  if (isByRank(*this) && choosesByCoordinate(*this))
    return emitOpError() << "has sgd.by_rank and the index " << index << "; expected a scalar; drop sgd.by_rank";
  for (Type type : getResultTypes()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    if (shape.take_front(index.getRank()) != index.getShape())
      return emitOpError() << "has the result " << type << "; expected the leading dimensions of the index " << index
                           << "; broadcast the results";
  }
  if (getBranches().empty()) return emitOpError("has no branch; expected one or more; add one");
  for (auto [number, region] : llvm::enumerate(getBranches()))
    if (failed(verifyBlock(*this, region.front(), ("branch " + Twine(number)).str(), getInputs().getTypes(),
                           getResultTypes())))
      return failure();
  return success();
}

bool mlir::sgd::isControlFlow(Operation* op) { return isa<WhileOp, CaseOp>(op); }

static void collectBlocks(Region& region, SmallVectorImpl<Block*>& blocks) {
  for (Block& block : region) {
    for (Operation& op : block)
      if (isControlFlow(&op))
        for (Region& inner : op.getRegions()) collectBlocks(inner, blocks);
    blocks.push_back(&block);
  }
}

SmallVector<Block*> mlir::sgd::getProgramBlocks(func::FuncOp function) {
  SmallVector<Block*> blocks;
  collectBlocks(function.getBody(), blocks);
  return blocks;
}
