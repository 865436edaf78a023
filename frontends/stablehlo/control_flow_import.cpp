// Loops and conditionals. A loop that counts to a known bound is unrolled; of a conditional all branches are computed
// and the results chosen, which is right because every op is defined on all inputs and has no side effects.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/importer.h"

#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// An unrolled loop may not become more ops than this: compile time grows with them.
constexpr int64_t kMaxUnrolledOps = 50'000;

bool isUnsignedScalar(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType().isUnsignedInteger();
}

std::optional<APInt> getScalar(DenseElementsAttr elements) {
  if (!elements || !isa<IntegerType>(elements.getElementType()) || elements.getNumElements() != 1) return std::nullopt;
  return *elements.getValues<APInt>().begin();
}

bool compare(stablehlo::ComparisonDirection direction, const APInt& a, const APInt& b, bool isUnsigned) {
  using D = stablehlo::ComparisonDirection;
  switch (direction) {
    case D::EQ:
      return a == b;
    case D::NE:
      return a != b;
    case D::LT:
      return isUnsigned ? a.ult(b) : a.slt(b);
    case D::LE:
      return isUnsigned ? a.ule(b) : a.sle(b);
    case D::GT:
      return isUnsigned ? a.ugt(b) : a.sgt(b);
    case D::GE:
      return isUnsigned ? a.uge(b) : a.sge(b);
  }
  llvm_unreachable("every direction is listed");
}

int64_t countOps(Region& region) {
  int64_t count = 0;
  region.walk([&](Operation*) { ++count; });
  return count;
}

/// What is known of a loop's integers before it runs.
class LoopAnalysis {
 public:
  LoopAnalysis(stablehlo::WhileOp loop, llvm::function_ref<std::optional<APInt>(Value)> getOuter)
      : loop(loop), getOuter(getOuter) {}

  /// The values that the counter takes, one per iteration, and its position among the operands; nullopt when the
  /// condition is not a comparison of a counter with a known bound, or iterations are more than `most`.
  std::optional<std::pair<unsigned, SmallVector<APInt>>> getCounter(int64_t most) {
    Block& condition = loop.getCond().front();
    auto test = skipConstraints(condition.getTerminator()->getOperand(0)).getDefiningOp<stablehlo::CompareOp>();
    if (!test) return std::nullopt;
    auto counter = dyn_cast<BlockArgument>(skipConstraints(test.getLhs()));
    if (!counter || counter.getOwner() != &condition) return std::nullopt;
    unsigned index = counter.getArgNumber();
    std::optional<APInt> value = getOuter(loop->getOperand(index)), bound = getInvariant(test.getRhs()),
                         step = getStep(index);
    if (!value || !bound || !step) return std::nullopt;
    SmallVector<APInt> values;
    while (compare(test.getComparisonDirection(), *value, *bound, isUnsignedScalar(counter))) {
      if (static_cast<int64_t>(values.size()) == most) return std::nullopt;
      values.push_back(*value);
      *value += *step;
    }
    return std::pair(index, values);
  }

 private:
  /// A value that is the same in all iterations: a constant, one from outside, or carried unchanged.
  std::optional<APInt> getInvariant(Value value) {
    value = skipConstraints(value);
    if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>())
      return getScalar(dyn_cast<DenseElementsAttr>(constant.getValue()));
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner()->getParentOp() != loop.getOperation()) return getOuter(value);
    Block& body = loop.getBody().front();
    unsigned index = argument.getArgNumber();
    if (skipConstraints(body.getTerminator()->getOperand(index)) != body.getArgument(index)) return std::nullopt;
    return getOuter(loop->getOperand(index));
  }

  /// What an iteration adds to operand `index`.
  std::optional<APInt> getStep(unsigned index) {
    Block& body = loop.getBody().front();
    Operation* next = skipConstraints(body.getTerminator()->getOperand(index)).getDefiningOp();
    if (!isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp>(next)) return std::nullopt;
    Value lhs = skipConstraints(next->getOperand(0)), rhs = skipConstraints(next->getOperand(1));
    if (isa<stablehlo::AddOp>(next) && rhs == body.getArgument(index)) std::swap(lhs, rhs);
    std::optional<APInt> step = getInvariant(rhs);
    if (lhs != body.getArgument(index) || !step) return std::nullopt;
    return isa<stablehlo::SubtractOp>(next) ? -*step : *step;
  }

  stablehlo::WhileOp loop;
  llvm::function_ref<std::optional<APInt>(Value)> getOuter;
};

}  // namespace

std::optional<APInt> Importer::getKnownInteger(Value original) {
  DenseElementsAttr constant;
  if (!matchPattern(values.lookup(original), m_Constant(&constant))) return std::nullopt;
  return getScalar(constant);
}

LogicalResult Importer::importWhile(Operation* op, Location loc) {
  auto loop = cast<stablehlo::WhileOp>(op);
  int64_t size = countOps(loop.getBody());
  auto getOuter = [&](Value value) { return getKnownInteger(value); };
  auto counter = LoopAnalysis(loop, getOuter).getCounter(kMaxUnrolledOps / size);
  if (!counter)
    return emitError(loc)
           << "'stablehlo.while' is supported with a counter that starts at a constant, changes by a constant and is "
              "compared with a constant, and only up to "
           << kMaxUnrolledOps << " ops when unrolled (its body has " << size
           << "); use lax.scan or lax.fori_loop with a static and smaller number of iterations";
  SmallVector<Value> carried;
  for (Value operand : op->getOperands()) carried.push_back(values.lookup(operand));
  auto& [index, counts] = *counter;
  for (const APInt& count : counts) {
    auto type = cast<RankedTensorType>(carried[index].getType());
    carried[index] = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, count));
    for (auto [argument, value] : llvm::zip(loop.getBody().getArguments(), carried)) values[argument] = value;
    SmallVector<Value> next;
    if (importBlock(loop.getBody().front(), next).failed()) return failure();
    carried = next;
  }
  return mapResults(op, carried, loc);
}

LogicalResult Importer::importConditional(Operation* op, Location loc) {
  bool isIf = isa<stablehlo::IfOp>(op);
  // An index outside of the branches takes the last one; the first branch of an `if` is for true.
  int64_t last = op->getNumRegions() - 1;
  Value selector = values.lookup(op->getOperand(0));
  if (std::optional<APInt> known = getKnownInteger(op->getOperand(0))) {
    int64_t index = isIf ? !known->getBoolValue() : known->getSExtValue();
    SmallVector<Value> results;
    if (importBlock(op->getRegion(index < 0 || index > last ? last : index).front(), results).failed())
      return failure();
    return mapResults(op, results, loc);
  }
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
