// Loops and conditionals. Short loops that count to a known bound are unrolled, small conditionals compute all branches
// and choose; everything else becomes control flow of the graph level.
#include "frontends/stablehlo/accumulating_loop.h"
#include "frontends/stablehlo/counted_loop.h"
#include "frontends/stablehlo/host_call_lowering.h"
#include "frontends/stablehlo/importer.h"

#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/graph/loops/trip_count.h"

using namespace mlir;
using namespace mlir::sgd;

/// An integer constant where it is written.
static std::optional<APInt> getWrittenInteger(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant ? getScalar(dyn_cast<DenseElementsAttr>(constant.getValue())) : std::nullopt;
}

/// Ops that importing a region makes: those of the functions that it calls, each time again, and of loops in it as
/// often as they will be unrolled.
static int64_t countOps(Region& region, const DenseMap<StringAttr, func::FuncOp>& functions, int64_t limit) {
  int64_t count = 0;
  for (Operation& op : region.getOps()) {
    ++count;
    auto call = dyn_cast<func::CallOp>(op);
    func::FuncOp callee = call ? functions.lookup(call.getCalleeAttr().getAttr()) : func::FuncOp();
    if (callee && callee != region.getParentOfType<func::FuncOp>())
      count += countOps(callee.getBody(), functions, limit);
    auto loop = dyn_cast<stablehlo::WhileOp>(op);
    if (!loop) {
      for (Region& inner : op.getRegions()) count += countOps(inner, functions, limit);
      continue;
    }
    int64_t ops = countOps(loop.getBody(), functions, limit);
    auto counted = analyzeLoop(loop, getWrittenInteger);
    bool isRepeated = counted && counted->trips <= getMostUnrolledTrips(counted->trips, ops, limit);
    count += isRepeated ? counted->trips * ops : ops;
  }
  return count;
}

/// Values that cost nothing to make where they are needed.
static bool isSmallConstant(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && (constant.isSplat() || constant.getNumElements() <= 16);
}

namespace {

/// Values that a region isolated from above needs from outside: pairs of the value that the region's ops read and the
/// imported one outside. Constants are made inside; all others become arguments.
struct Closure {
  SmallVector<std::pair<Value, Value>> arguments, constants;

  void add(Value seen, Value imported, bool mayChange) {
    (!mayChange && isSmallConstant(imported) ? constants : arguments).push_back({seen, imported});
  }
  SmallVector<Value> getImported() const {
    return llvm::map_to_vector(arguments, [](const auto& pair) { return pair.second; });
  }
};

}  // namespace

std::optional<APInt> Importer::getKnownInteger(Value original) {
  DenseElementsAttr constant;
  if (!matchPattern(values.lookup(original), m_Constant(&constant))) return std::nullopt;
  return getScalar(constant);
}

LogicalResult Importer::importRegion(Block& block, Region& region, ArrayRef<std::pair<Value, Value>> arguments,
                                     ArrayRef<std::pair<Value, Value>> constants, SmallVectorImpl<Value>& returned) {
  OpBuilder::InsertionGuard guard(builder);
  Block* target = builder.createBlock(&region);
  SmallVector<std::pair<Value, Value>> before;  // what values seen inside were outside
  auto map = [&](Value seen, Value value) {
    before.push_back({seen, values.lookup(seen)});
    values[seen] = value;
  };
  for (auto [seen, imported] : arguments) map(seen, target->addArgument(imported.getType(), seen.getLoc()));
  for (auto [seen, imported] : constants) map(seen, builder.clone(*imported.getDefiningOp())->getResult(0));
  if (importBlock(block, returned).failed()) return failure();
  for (auto [seen, value] : before) values[seen] = value;
  return success();
}

LogicalResult Importer::unroll(Operation* op, const CountedLoop& counted, Location loc) {
  auto loop = cast<stablehlo::WhileOp>(op);
  SmallVector<Value> carried;
  for (Value operand : op->getOperands()) carried.push_back(values.lookup(operand));
  for (int64_t trip = 0; trip < counted.trips; ++trip) {
    Value& counter = carried[counted.counter];
    auto type = cast<RankedTensorType>(counter.getType());
    counter = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, counted.getCount(trip)));
    for (auto [argument, value] : llvm::zip(loop.getBody().getArguments(), carried)) values[argument] = value;
    SmallVector<Value> next;
    if (importBlock(loop.getBody().front(), next).failed()) return failure();
    carried = next;
  }
  return mapResults(op, carried, loc);
}

/// Whether importing `region` makes loops.
static bool keepsLoop(Region& region, const DenseMap<StringAttr, func::FuncOp>& functions, int64_t limit) {
  return llvm::any_of(region.getOps(), [&](Operation& op) {
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
      auto counted = analyzeLoop(loop, getWrittenInteger);
      if (!counted ||
          counted->trips > getMostUnrolledTrips(counted->trips, countOps(loop.getBody(), functions, limit), limit))
        return true;
    }
    auto call = dyn_cast<func::CallOp>(op);
    func::FuncOp callee = call ? functions.lookup(call.getCalleeAttr().getAttr()) : func::FuncOp();
    if (callee && callee != region.getParentOfType<func::FuncOp>() && keepsLoop(callee.getBody(), functions, limit))
      return true;
    return llvm::any_of(op.getRegions(), [&](Region& inner) { return keepsLoop(inner, functions, limit); });
  });
}

/// Whether a loop with this body is better unrolled, in a region of `around`. In manual computations a loop
/// around loops stays one: a ring is written so that memory does not grow with its steps.
static bool isUnrolled(Region& body, int64_t trips, const DenseMap<StringAttr, func::FuncOp>& functions, int64_t limit,
                       Operation* around) {
  if (trips > getMostUnrolledTrips(trips, countOps(body, functions, limit), limit)) return false;
  bool isManual = isa<ManualComputationOp>(around) || around->getParentOfType<ManualComputationOp>();
  return trips <= 1 || !isManual || !keepsLoop(body, functions, limit);
}

/// Whether a loop of so many trips carries tensors with as many rows of more than a number.
static bool hasStackedValues(Operation* loop, int64_t trips) {
  return llvm::any_of(loop->getOperandTypes(), [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() >= 2 && tensor.getDimSize(0) == trips;
  });
}

LogicalResult Importer::importWhile(Operation* op, Location loc) {
  auto loop = cast<stablehlo::WhileOp>(op);
  auto counted = analyzeLoop(loop, [&](Value value) { return getKnownInteger(value); });
  const bool isOverLayers = counted && options.keepsLayerLoops && hasStackedValues(op, counted->trips);
  int64_t limit = isOverLayers || isAccumulating(loop, functions) ? 0 : options.unrolledOps;
  if (counted &&
      isUnrolled(loop.getBody(), counted->trips, functions, limit, builder.getInsertionBlock()->getParentOp()))
    return unroll(op, *counted, loc);

  Block& body = loop.getBody().front();
  Closure iterArgs;
  SmallVector<bool> isInside;  // by operand: a constant made inside
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    bool isInvariant = body.getTerminator()->getOperand(index) == body.getArgument(index);
    iterArgs.add(body.getArgument(index), values.lookup(operand), !isInvariant);
    isInside.push_back(isInvariant && isSmallConstant(values.lookup(operand)));
  }
  size_t numCarried = iterArgs.arguments.size();
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured) iterArgs.add(value, values.lookup(value), /*mayChange=*/false);

  SmallVector<Value> inits = iterArgs.getImported();
  auto graphLoop = WhileOp::create(builder, loc, inits, counted ? std::optional(counted->trips) : std::nullopt);
  auto finish = [&](Region& region, ArrayRef<Value> yielded) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&region.front());
    YieldOp::create(builder, loc, yielded);
  };
  SmallVector<Value> returned, yielded, results;
  if (importRegion(body, graphLoop.getBody(), iterArgs.arguments, iterArgs.constants, returned).failed())
    return failure();
  for (auto [value, inside] : llvm::zip(returned, isInside))
    if (!inside) yielded.push_back(value);
  for (BlockArgument argument : graphLoop.getBody().getArguments().drop_front(numCarried)) yielded.push_back(argument);
  finish(graphLoop.getBody(), yielded);
  if (!counted) {
    // The condition has arguments of its own.
    Block& condition = loop.getCond().front();
    auto seenByCondition = [&](ArrayRef<std::pair<Value, Value>> pairs) {
      return llvm::map_to_vector(pairs, [&](std::pair<Value, Value> pair) {
        auto argument = dyn_cast<BlockArgument>(pair.first);
        bool isIterArg = argument && argument.getOwner() == &body;
        return isIterArg ? std::pair(Value(condition.getArgument(argument.getArgNumber())), pair.second) : pair;
      });
    };
    SmallVector<Value> predicate;
    if (importRegion(condition, graphLoop.getCondition(), seenByCondition(iterArgs.arguments),
                     seenByCondition(iterArgs.constants), predicate)
            .failed())
      return failure();
    finish(graphLoop.getCondition(), predicate);
  }
  unsigned next = 0;
  for (auto [operand, inside] : llvm::zip(op->getOperands(), isInside))
    results.push_back(inside ? values.lookup(operand) : graphLoop.getResult(next++));
  return mapResults(op, results, loc);
}

/// Computing all branches and choosing costs less than deciding before: few elements, no matmuls, no loops. Calls of
/// the host are made by the chosen branch alone.
static bool isCheap(Region& region) {
  constexpr int64_t kCheapElements = 1 << 14;
  int64_t elements = 0;
  bool isExpensive = region
                         .walk([&](Operation* op) {
                           for (Type type : op->getResultTypes())
                             if (auto tensor = dyn_cast<RankedTensorType>(type)) elements += tensor.getNumElements();
                           bool isMore =
                               isa<func::CallOp, stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op) ||
                               op->getName().getStringRef() == "stablehlo.dot_general" ||
                               op->getName().getStringRef() == "stablehlo.convolution";
                           if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
                             isMore = call.getCallTargetName() == kHostCallTarget;
                           return isMore ? WalkResult::interrupt() : WalkResult::advance();
                         })
                         .wasInterrupted();
  return !isExpensive && elements <= kCheapElements;
}

LogicalResult Importer::importCase(Operation* op, Value index, Location loc) {
  Closure inputs;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured) inputs.add(value, values.lookup(value), /*mayChange=*/false);
  SmallVector<Type> types =
      llvm::map_to_vector(op->getResultTypes(), [](Type type) -> Type { return convertTensorType(type); });
  auto branches = CaseOp::create(builder, loc, types, index, inputs.getImported(), op->getNumRegions());
  for (auto [region, branch] : llvm::zip(op->getRegions(), branches.getBranches())) {
    SmallVector<Value> returned;
    if (importRegion(region.front(), branch, inputs.arguments, inputs.constants, returned).failed()) return failure();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&branch.front());
    YieldOp::create(builder, loc, returned);
  }
  return mapResults(op, branches.getResults(), loc);
}

/// The number of the branch: an `if` has that for true first.
static Value getBranchNumber(OpBuilder& builder, Location loc, Value selector, bool isIf) {
  if (!isIf) return selector;
  auto type = RankedTensorType::get({}, builder.getI32Type());
  auto number = [&](int32_t value) {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getI32IntegerAttr(value)));
  };
  return arith::SelectOp::create(builder, loc, selector, number(0), number(1));
}

LogicalResult Importer::importConditional(Operation* op, Location loc) {
  bool isIf = isa<stablehlo::IfOp>(op);
  // An index outside of the branches chooses the last one; the first branch of an `if` is for true.
  int64_t last = op->getNumRegions() - 1;
  Value selector = values.lookup(op->getOperand(0));
  if (std::optional<APInt> known = getKnownInteger(op->getOperand(0))) {
    int64_t index = isIf ? !known->getBoolValue() : known->getSExtValue();
    SmallVector<Value> results;
    if (importBlock(op->getRegion(index < 0 || index > last ? last : index).front(), results).failed())
      return failure();
    return mapResults(op, results, loc);
  }
  if (!llvm::all_of(op->getRegions(), isCheap))
    return importCase(op, getBranchNumber(builder, loc, selector, isIf), loc);
  SmallVector<SmallVector<Value>> branches(op->getNumRegions());
  for (auto [region, results] : llvm::zip(op->getRegions(), branches))
    if (importBlock(region.front(), results).failed()) return failure();
  SmallVector<Value> chosen = branches.back();
  for (int64_t branch = last - 1; branch >= 0; --branch) {
    Value condition = selector;
    if (!isIf) {
      auto type = cast<RankedTensorType>(selector.getType());
      auto number = DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), branch));
      condition = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, selector,
                                        arith::ConstantOp::create(builder, loc, number));
    }
    for (auto [value, other] : llvm::zip(chosen, branches[branch])) {
      auto type = cast<RankedTensorType>(value.getType());
      Value mask =
          BroadcastInDimOp::create(builder, loc, type.clone(builder.getI1Type()), condition, ArrayRef<int64_t>{});
      value = arith::SelectOp::create(builder, loc, mask, other, value);
    }
  }
  return mapResults(op, chosen, loc);
}

void Importer::foldScalars(SmallVectorImpl<Value>& results) {
  for (Value& result : results) {
    Operation* op = result.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumOperands() == 0 || op->hasTrait<OpTrait::ConstantLike>()) continue;
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      DenseElementsAttr constant;
      if (!matchPattern(operand, m_Constant(&constant)) || constant.getNumElements() != 1) break;
      operands.push_back(constant);
    }
    SmallVector<OpFoldResult> folded;
    if (operands.size() != op->getNumOperands() || failed(op->fold(operands, folded)) || folded.size() != 1) continue;
    if (auto value = llvm::dyn_cast_if_present<Value>(folded[0])) {
      result = value;
    } else if (auto constant = dyn_cast<ElementsAttr>(cast<Attribute>(folded[0]));
               constant && constant.getType() == result.getType()) {
      result = arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(cast<Attribute>(constant)));
    }
  }
}
