// Loops and branches. The gradient of a loop is a loop that runs backwards. It receives loop invariants, recomputes
// values that depend only on invariants and counters, and reads all other forward values from stacks with one row per
// trip. passes/time/recompute drops stacks that are cheaper to recompute.
#include "dialects/sgd/by_rank.h"
#include "dialects/sgd/linear_op.h"
#include "passes/graph/autodiff/derivative_rule.h"
#include "passes/graph/autodiff/differentiate.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/graph/loops/trip_numbers.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// How the gradient of an iter_arg moves from trip to trip.
enum class Flow {
  None,       ///< no gradient
  Invariant,  ///< all trips read it, and their gradients are summed
  Carried,    ///< a trip pulls back the gradient of the following trip
};

class LoopGradient {
 public:
  LoopGradient(WhileOp loop, ArrayRef<Value> gradients, Pullback& outside)
      : loop(loop), gradients(gradients), outside(outside), trips(*loop.getTrips()) {}

  LogicalResult run() {
    findFlows();
    createReverse();
    if (failed(sweepBody())) return failure();
    fetchValues();
    finish();
    return success();
  }

 private:
  Block& getBody() { return loop.getBody().front(); }
  Block& getReverseBody() { return reverse.getBody().front(); }

  /// Finds the iter_args that depend on differentiated values and reach a result with a gradient.
  void findFlows() {
    unsigned count = loop.getInits().size();
    auto isMissing = [&](unsigned iterArg) { return !hasGradients(loop.getInits()[iterArg].getType()); };
    llvm::BitVector varied(count), useful(count);
    for (unsigned iterArg = 0; iterArg < count; ++iterArg) {
      if (isMissing(iterArg)) continue;
      varied[iterArg] = outside.wants(loop.getInits()[iterArg]);
      useful[iterArg] = gradients[iterArg] != nullptr;
    }
    varied = findVariedIterArgs(loop, varied);
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned iterArg = 0; iterArg < count; ++iterArg) {
        if (useful[iterArg] || isMissing(iterArg)) continue;
        ActiveValues reached(getBody(), loop.getBody().getArgument(iterArg));
        for (unsigned other : useful.set_bits())
          if (reached.contains(loop.getYielded()[other])) useful[iterArg] = changed = true;
      }
    }
    for (unsigned iterArg = 0; iterArg < count; ++iterArg) {
      bool isUsed = varied[iterArg] && useful[iterArg];
      flows.push_back(!isUsed ? Flow::None : loop.isInvariant(iterArg) ? Flow::Invariant : Flow::Carried);
    }
    // No trip reads a stack that trips write row by row, so its gradient need not be cleared where rows were written.
    for (unsigned iterArg = 0; iterArg < count; ++iterArg)
      if (flows[iterArg] == Flow::Carried && !outside.wants(loop.getInits()[iterArg]) && getWrite(iterArg))
        flows[iterArg] = Flow::Invariant, stacks.insert(iterArg);
  }

  /// Returns whether every trip accesses another part of `argument`, which has one use in the body.
  bool visitsRowsOnce(Value argument, OperandRange starts, ArrayRef<int64_t> sizes) {
    if (!getOnlyReader(argument)) return false;
    ArrayRef<int64_t> shape = shapeOf(argument);
    for (auto [dim, start] : llvm::enumerate(starts)) {
      if (sizes[dim] == shape[dim]) continue;
      std::optional<SmallVector<int64_t>> places = getTripValues(loop, start);
      if (!places) continue;
      llvm::sort(*places);
      bool areApart = places->front() >= 0 && places->back() + sizes[dim] <= shape[dim];
      for (size_t next = 1; next < places->size(); ++next)
        areApart &= (*places)[next] >= (*places)[next - 1] + sizes[dim];
      if (areApart) return true;
    }
    return false;
  }

  /// Returns the update that writes rows of an iter_arg, each in one trip only; null for other iter_args.
  DynamicUpdateSliceOp getWrite(unsigned iterArg) {
    Value argument = loop.getBody().getArgument(iterArg);
    auto update = loop.getYielded()[iterArg].getDefiningOp<DynamicUpdateSliceOp>();
    bool isWrite = update && update.getInput() == argument && update->hasOneUse() &&
                   visitsRowsOnce(argument, update.getStarts(), shapeOf(update.getUpdate()));
    return isWrite ? update : nullptr;
  }

  bool readsRowsOnce(Value argument) {
    auto slice = dyn_cast_or_null<DynamicSliceOp>(getOnlyReader(argument));
    return slice && slice.getInput() == argument && visitsRowsOnce(argument, slice.getStarts(), slice.getSizes());
  }

  /// Returns the only use of an iter_arg in the body besides the yield; null if there are others.
  static Operation* getOnlyReader(Value argument) {
    Operation* reader = nullptr;
    for (Operation* user : argument.getUsers()) {
      if (isa<YieldOp>(user)) continue;
      if (reader) return nullptr;
      reader = user;
    }
    return reader;
  }

  /// Creates the loop that runs backwards; its iter_args are gradients. Its trip t handles forward trip trips - 1 - t.
  void createReverse() {
    for (auto [iterArg, flow] : llvm::enumerate(flows)) {
      if (flow == Flow::None) continue;
      Value gradient = gradients[iterArg];
      places[iterArg] = inits.size();
      inits.push_back(gradient ? gradient : outside.getZeros(loop.getInits()[iterArg]));
    }
    OpBuilder& builder = outside.math.getBuilder();
    reverse = WhileOp::create(builder, loop.getLoc(), inits, trips);
    Block* body = new Block;
    reverse.getBody().push_back(body);
    for (Value init : inits) body->addArgument(init.getType(), loop.getLoc());
  }

  LogicalResult sweepBody() {
    SmallVector<Value> inputs;
    for (auto [iterArg, flow] : llvm::enumerate(flows))
      if (flow != Flow::None) inputs.push_back(loop.getBody().getArgument(iterArg));
    ActiveValues active(getBody(), inputs);
    OpBuilder builder = OpBuilder::atBlockEnd(&getReverseBody());
    Pullback inside(builder, active);
    inside.setLoc(loop.getLoc());
    for (auto [iterArg, flow] : llvm::enumerate(flows)) {
      if (flow == Flow::None) continue;
      Value argument = loop.getBody().getArgument(iterArg), gradient = getReverseBody().getArgument(places[iterArg]);
      if (flow == Flow::Carried) {
        inside.add(loop.getYielded()[iterArg], gradient);
      } else if (stacks.contains(iterArg)) {
        inside.addRowsOnce(argument);
        inside.set(loop.getYielded()[iterArg], gradient);
      } else {
        inside.set(argument, gradient);
        if (!gradients[iterArg] && readsRowsOnce(argument)) inside.addRowsOnce(argument);
      }
    }
    if (failed(sweep(getBody(), inside))) return failure();
    SmallVector<Value> yielded;
    for (Value input : inputs) {
      unsigned iterArg = cast<BlockArgument>(input).getArgNumber();
      Value own = getReverseBody().getArgument(places[iterArg]);
      Value gradient = stacks.contains(iterArg) ? own : inside.get(input);
      yielded.push_back(gradient ? gradient : inside.getZeros(input));
    }
    YieldOp::create(builder, loop.getLoc(), yielded);
    return success();
  }

  // Forward values
  // ---------------------------------------------------------------------------------------------------------------

  /// Makes forward values available in the reverse body: those of the forward body, then those from before both loops.
  void fetchValues() {
    for (Value value : getForeign())
      if (value.getParentBlock() == &getBody()) replaceInReverse(value, fetch(value));
    for (Value value : getForeign()) replaceInReverse(value, getInBody(reverse, value));
  }

  /// Returns the values that the reverse body reads but does not define.
  llvm::SetVector<Value> getForeign() {
    llvm::SetVector<Value> values;
    for (Operation& op : getReverseBody())
      for (Value operand : op.getOperands())
        if (operand.getParentBlock() != &getReverseBody()) values.insert(operand);
    return values;
  }

  void replaceInReverse(Value value, Value own) {
    value.replaceUsesWithIf(own, [&](OpOperand& use) { return isInReverse(use.getOwner()); });
  }

  bool isInReverse(Operation* op) { return op != reverse && reverse->isProperAncestor(op); }

  Value fetch(Value value) {
    if (Value known = fetched.lookup(value)) return known;
    Value result = fetchNew(value);
    fetched[value] = result;
    return result;
  }

  Value fetchNew(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned iterArg = argument.getArgNumber();
      if (loop.isInvariant(iterArg)) return getInBody(reverse, loop.getInits()[iterArg]);
      if (std::optional<Counter> counter = getCounter(loop, iterArg)) return count(*counter, argument);
    } else if (isCheap(value)) {
      return repeat(value.getDefiningOp(), cast<OpResult>(value).getResultNumber());
    }
    return readStack(value);
  }

  /// Adds a counter to the reverse loop that starts from the last value of `counter` and steps backwards.
  Value count(const Counter& counter, Value argument) {
    OpBuilder before(reverse);
    TensorMath math(before, loop.getLoc());
    Value last = math.create<arith::ConstantOp>(cast<TypedAttr>(getCounterValue(loop, counter, trips - 1)));
    reverse = addInvariants(reverse, last);
    Block& body = getReverseBody();
    Value own = body.getArguments().back();
    OpBuilder inside(body.getTerminator());
    TensorMath step(inside, loop.getLoc());
    Value next = step.add(own, step.splat(tensorType(argument), -counter.step));
    body.getTerminator()->setOperand(body.getNumArguments() - 1, next);
    return own;
  }

  /// Returns whether the reverse loop can recompute `value` by moving elements of invariants and counters.
  bool isCheap(Value value) {
    Operation* op = value.getDefiningOp();
    if (auto known = cheap.find(value); known != cheap.end()) return known->second;
    bool isMove = op->getNumOperands() == 0 || movesOneTensor(op) || isa<DynamicSliceOp>(op);
    bool isNumber = op->getNumRegions() == 0 && llvm::all_of(op->getResultTypes(), [](Type type) {
                      return cast<RankedTensorType>(type).getNumElements() == 1;
                    });
    bool result = (isMove || isNumber) && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
                    auto argument = dyn_cast<BlockArgument>(operand);
                    if (!argument) return isCheap(operand);
                    return loop.isInvariant(argument.getArgNumber()) || getCounter(loop, argument.getArgNumber());
                  });
    cheap[value] = result;
    return result;
  }

  Value repeat(Operation* op, unsigned result) {
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return fetch(operand); });
    OpBuilder inside = OpBuilder::atBlockBegin(&getReverseBody());
    if (Operation* last = getLast(operands)) inside.setInsertionPointAfter(last);
    Operation* own = inside.clone(*op);
    own->setOperands(operands);
    return own->getResult(result);
  }

  /// Returns the last op of the reverse body that defines one of `values`; null if none does.
  Operation* getLast(ArrayRef<Value> values) {
    Operation* last = nullptr;
    for (Value value : values)
      if (Operation* op = value.getDefiningOp(); op && (!last || last->isBeforeInBlock(op))) last = op;
    return last;
  }

  Value readStack(Value value) {
    Value number = getTripNumber(loop);
    loop = addStack(loop, value, number, trips);
    Value stack = getInBody(reverse, loop.getResults().back()), index = fetch(number);
    OpBuilder inside = OpBuilder::atBlockBegin(&getReverseBody());
    if (Operation* last = index.getDefiningOp()) inside.setInsertionPointAfter(last);
    TensorMath math(inside, value.getLoc());
    return math.reshape(readRow(inside, stack, index), shapeOf(value));
  }

  void finish() {
    for (auto [iterArg, place] : places) {
      if (stacks.contains(iterArg)) continue;
      outside.add(loop.getInits()[iterArg], reverse.getResult(place));
    }
  }

  WhileOp loop, reverse;
  ArrayRef<Value> gradients;
  Pullback& outside;
  int64_t trips;
  SmallVector<Flow> flows;                     // by iter_arg
  llvm::DenseSet<unsigned> stacks;             // iter_args that are written row by row
  llvm::MapVector<unsigned, unsigned> places;  // the reverse loop's iter_arg by that of the forward one
  SmallVector<Value> inits;
  llvm::DenseMap<Value, Value> fetched;
  llvm::DenseMap<Value, bool> cheap;
};

LogicalResult pullWhile(WhileOp op, ArrayRef<Value> gradients, Pullback& p) {
  if (!op.getTrips())
    return op.emitError()
           << "has no known number of trips, so its gradient cannot store the values that it reads; expected a fixed "
              "number of trips; bound the loop, or mark it with sgd.no_gradient";
  if (*op.getTrips() == 0) {
    for (auto [init, gradient] : llvm::zip(op.getInits(), gradients)) p.add(init, gradient);
    return success();
  }
  return LoopGradient(op, gradients, p).run();
}

/// Branches on the same index. Each branch recomputes its forward values.
LogicalResult pullCase(CaseOp op, ArrayRef<Value> gradients, Pullback& p) {
  if (choosesByCoordinate(op))
    return op.emitError()
           << "chooses a branch for each coordinate, which has no derivative here; expected one index; take "
              "the gradient before ranks are expanded";
  SmallVector<unsigned> wanted;
  for (auto [position, input] : llvm::enumerate(op.getInputs()))
    if (p.wants(input)) wanted.push_back(position);
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<Type> types =
      llvm::map_to_vector(wanted, [&](unsigned input) { return op.getInputs()[input].getType(); });
  for (Value gradient : gradients)
    if (gradient) inputs.push_back(gradient);
  OpBuilder& builder = p.math.getBuilder();
  auto reverse = CaseOp::create(builder, op.getLoc(), types, op.getIndex(), inputs, op.getBranches().size());
  setByRank(reverse, isByRank(op));
  for (auto [from, to] : llvm::zip(op.getBranches(), reverse.getBranches())) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
    Block& block = to.front();
    SmallVector<Value> own(block.getArguments());
    for (Value gradient : gradients)
      if (gradient) block.addArgument(gradient.getType(), op.getLoc());
    SmallVector<Value> differentiated = llvm::map_to_vector(wanted, [&](unsigned input) { return own[input]; });
    ActiveValues active(block, differentiated);
    Operation* yield = block.getTerminator();
    OpBuilder inside(yield);
    Pullback pullback(inside, active);
    unsigned next = own.size();
    for (auto [result, gradient] : llvm::zip(yield->getOperands(), gradients))
      if (gradient) pullback.add(result, block.getArgument(next++));
    if (failed(sweep(block, pullback))) return failure();
    SmallVector<Value> yielded = llvm::map_to_vector(differentiated, [&](Value input) {
      Value gradient = pullback.get(input);
      return gradient ? gradient : pullback.getZeros(input);
    });
    yield->setOperands(yielded);
  }
  for (auto [input, result] : llvm::zip(wanted, reverse.getResults())) p.add(op.getInputs()[input], result);
  return success();
}

}  // namespace

void mlir::sgd::attachControlFlowDerivatives(MLIRContext& context) {
  attachDerivatives<WhileOp, pullWhile>(context);
  attachDerivatives<CaseOp, pullCase>(context);
}
