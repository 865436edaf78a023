// Interval arithmetic over boxes. Numbers are doubles: exact for the indices that tensors have.
#include "passes/graph/attention/index_ranges.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include <algorithm>
#include <cmath>

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Ops looked at for one question, and elements of a constant.
constexpr int kMaxSteps = 512;
constexpr int64_t kMaxElements = int64_t(1) << 22;
/// Integers up to here are exact in every float type that indices are converted to.
constexpr double kMaxExact = 1 << 24;

/// Every element is in [low, high].
struct Interval {
  double low, high;
};
using Bounds = std::optional<Interval>;

std::optional<double> toNumber(Attribute attribute) {
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    if (number.getType().isInteger(1)) return number.getValue().isZero() ? 0 : 1;
    return static_cast<double>(number.getInt());
  }
  auto number = dyn_cast<FloatAttr>(attribute);
  if (!number || std::isnan(number.getValueAsDouble())) return std::nullopt;
  return number.getValueAsDouble();
}

class Evaluator {
 public:
  Bounds evaluate(Value value, const IndexBox& box) {
    if (++steps > kMaxSteps) return std::nullopt;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto cluster = dyn_cast<fusion::ClusterOp>(argument.getOwner()->getParentOp());
      return cluster ? evaluate(cluster.getInputs()[argument.getArgNumber()], box) : std::nullopt;
    }
    return llvm::TypeSwitch<Operation*, Bounds>(value.getDefiningOp())
        .Case([&](fusion::ClusterOp op) {
          unsigned number = cast<OpResult>(value).getResultNumber();
          return evaluate(op.getBody().front().getTerminator()->getOperand(number), box);
        })
        .Case([&](arith::ConstantOp op) { return evaluateConstant(op, box); })
        .Case([&](IotaOp op) -> Bounds {
          IndexRange range = box[op.getDimension()];
          return Interval{static_cast<double>(range.begin), static_cast<double>(range.begin + range.size - 1)};
        })
        .Case<BroadcastInDimOp, TransposeOp, ReshapeOp, SliceOp>(
            [&](auto op) { return evaluate(op.getInput(), getInputBox(op, box)); })
        .Case<arith::AddIOp, arith::AddFOp>([&](auto op) {
          return combine(op, box, [](Interval a, Interval b) { return Interval{a.low + b.low, a.high + b.high}; });
        })
        .Case<arith::SubIOp, arith::SubFOp>([&](auto op) {
          return combine(op, box, [](Interval a, Interval b) { return Interval{a.low - b.high, a.high - b.low}; });
        })
        .Case<arith::SIToFPOp, arith::ExtUIOp, arith::ExtFOp>([&](auto op) { return limit(evaluate(op.getIn(), box)); })
        .Case([&](arith::ExtSIOp op) {
          bool isBoolean = getElementTypeOrSelf(op.getIn().getType()).isInteger(1);
          return isBoolean ? std::nullopt : evaluate(op.getIn(), box);
        })
        .Case([&](arith::CmpIOp op) { return compare(op, box); })
        .Case([&](arith::CmpFOp op) { return compare(op, box); })
        .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([&](auto op) { return combineBooleans(op, box); })
        .Case([&](arith::SelectOp op) { return evaluateSelect(op, box); })
        .Default([](Operation*) { return std::nullopt; });
  }

 private:
  static Bounds limit(Bounds bounds) {
    bool isExact = bounds && bounds->low >= -kMaxExact && bounds->high <= kMaxExact;
    return isExact ? bounds : std::nullopt;
  }

  Bounds evaluateConstant(arith::ConstantOp op, const IndexBox& box) {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!dense) return std::nullopt;
    if (dense.isSplat()) {
      std::optional<double> number = toNumber(dense.getSplatValue<Attribute>());
      return number ? Bounds(Interval{*number, *number}) : std::nullopt;
    }
    int64_t elements = 1;
    for (IndexRange range : box) elements *= range.size;
    if (elements == 0 || elements > kMaxElements || !dense.getElementType().isInteger(1)) return std::nullopt;
    auto values = dense.getValues<bool>();
    Interval bounds{1, 0};
    for (int64_t element = 0; element < elements; ++element) {
      int64_t rest = element, index = 0, stride = 1;
      for (size_t dim = box.size(); dim-- > 0;) {
        index += (box[dim].begin + rest % box[dim].size) * stride;
        rest /= box[dim].size;
        stride *= shapeOf(op.getResult())[dim];
      }
      bool isSet = values[index];
      bounds = {isSet ? bounds.low : 0, isSet ? 1 : bounds.high};
      if (bounds.low == 0 && bounds.high == 1) break;
    }
    return bounds;
  }

  static IndexBox getInputBox(BroadcastInDimOp op, const IndexBox& box) {
    IndexBox input = getWholeBox(op.getInput());
    for (auto [from, to] : llvm::enumerate(op.getDims()))
      if (shapeOf(op.getInput())[from] == shapeOf(op.getResult())[to]) input[from] = box[to];
    return input;
  }
  static IndexBox getInputBox(TransposeOp op, const IndexBox& box) {
    IndexBox input = getWholeBox(op.getInput());
    for (auto [to, from] : llvm::enumerate(op.getPermutation())) input[from] = box[to];
    return input;
  }
  /// Dimensions of size 1 come and go; otherwise all of the operand.
  static IndexBox getInputBox(ReshapeOp op, const IndexBox& box) {
    IndexBox input = getWholeBox(op.getInput());
    SmallVector<unsigned> from, to;
    for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInput())))
      if (size != 1) from.push_back(dim);
    for (auto [dim, size] : llvm::enumerate(shapeOf(op.getResult())))
      if (size != 1) to.push_back(dim);
    bool isSame = llvm::equal(
        from, to, [&](unsigned a, unsigned b) { return shapeOf(op.getInput())[a] == shapeOf(op.getResult())[b]; });
    if (!isSame) return input;
    for (auto [a, b] : llvm::zip(from, to)) input[a] = box[b];
    return input;
  }
  static IndexBox getInputBox(SliceOp op, const IndexBox& box) {
    IndexBox input;
    for (auto [range, start, stride] : llvm::zip(box, op.getStarts(), op.getStrides()))
      input.push_back({start + range.begin * stride, (range.size - 1) * stride + 1});
    return input;
  }

  Bounds combine(Operation* op, const IndexBox& box, llvm::function_ref<Interval(Interval, Interval)> function) {
    Bounds a = evaluate(op->getOperand(0), box), b = evaluate(op->getOperand(1), box);
    return a && b ? limit(function(*a, *b)) : std::nullopt;
  }

  static Bounds makeTruth(bool always, bool never) {
    return always || never ? Bounds(Interval{always ? 1.0 : 0.0, always ? 1.0 : 0.0}) : std::nullopt;
  }

  static Bounds isLess(Interval a, Interval b) { return makeTruth(a.high < b.low, a.low >= b.high); }
  static Bounds isLessOrEqual(Interval a, Interval b) { return makeTruth(a.high <= b.low, a.low > b.high); }
  static Bounds isEqual(Interval a, Interval b) {
    return makeTruth(a.low == a.high && b.low == b.high && a.low == b.low, a.high < b.low || b.high < a.low);
  }
  static Bounds negate(Bounds truth) { return truth ? Bounds(Interval{1 - truth->high, 1 - truth->low}) : truth; }

  Bounds compare(arith::CmpIOp op, const IndexBox& box) {
    using P = arith::CmpIPredicate;
    Bounds a = evaluate(op.getLhs(), box), b = evaluate(op.getRhs(), box);
    if (!a || !b) return std::nullopt;
    bool isSigned = llvm::is_contained({P::slt, P::sle, P::sgt, P::sge}, op.getPredicate());
    if (!isSigned && op.getPredicate() != P::eq && op.getPredicate() != P::ne && (a->low < 0 || b->low < 0))
      return std::nullopt;
    switch (op.getPredicate()) {
      case P::eq:
        return isEqual(*a, *b);
      case P::ne:
        return negate(isEqual(*a, *b));
      case P::slt:
      case P::ult:
        return isLess(*a, *b);
      case P::sle:
      case P::ule:
        return isLessOrEqual(*a, *b);
      case P::sgt:
      case P::ugt:
        return isLess(*b, *a);
      case P::sge:
      case P::uge:
        return isLessOrEqual(*b, *a);
    }
    return std::nullopt;
  }

  Bounds compare(arith::CmpFOp op, const IndexBox& box) {
    using P = arith::CmpFPredicate;
    Bounds a = evaluate(op.getLhs(), box), b = evaluate(op.getRhs(), box);
    if (!a || !b) return std::nullopt;
    switch (op.getPredicate()) {
      case P::OEQ:
      case P::UEQ:
        return isEqual(*a, *b);
      case P::ONE:
      case P::UNE:
        return negate(isEqual(*a, *b));
      case P::OLT:
      case P::ULT:
        return isLess(*a, *b);
      case P::OLE:
      case P::ULE:
        return isLessOrEqual(*a, *b);
      case P::OGT:
      case P::UGT:
        return isLess(*b, *a);
      case P::OGE:
      case P::UGE:
        return isLessOrEqual(*b, *a);
      default:
        return std::nullopt;
    }
  }

  Bounds combineBooleans(Operation* op, const IndexBox& box) {
    if (!getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1)) return std::nullopt;
    Bounds a = evaluate(op->getOperand(0), box), b = evaluate(op->getOperand(1), box);
    auto is = [](Bounds bounds, double value) { return bounds && bounds->low == value && bounds->high == value; };
    if (isa<arith::AndIOp>(op)) return makeTruth(is(a, 1) && is(b, 1), is(a, 0) || is(b, 0));
    if (isa<arith::OrIOp>(op)) return makeTruth(is(a, 1) || is(b, 1), is(a, 0) && is(b, 0));
    return makeTruth((is(a, 1) && is(b, 0)) || (is(a, 0) && is(b, 1)),
                     (is(a, 1) && is(b, 1)) || (is(a, 0) && is(b, 0)));
  }

  Bounds evaluateSelect(arith::SelectOp op, const IndexBox& box) {
    auto type = dyn_cast<RankedTensorType>(op.getCondition().getType());
    bool isPerElement = type && type.getShape() == shapeOf(op.getResult());
    Bounds condition = isPerElement ? evaluate(op.getCondition(), box) : std::nullopt;
    if (condition && condition->low == condition->high)
      return evaluate(condition->low == 1 ? op.getTrueValue() : op.getFalseValue(), box);
    Bounds a = evaluate(op.getTrueValue(), box), b = evaluate(op.getFalseValue(), box);
    return a && b ? Bounds(Interval{std::min(a->low, b->low), std::max(a->high, b->high)}) : std::nullopt;
  }

  int steps = 0;
};

}  // namespace

IndexBox mlir::sgd::getWholeBox(Value tensor) {
  IndexBox box;
  for (int64_t size : shapeOf(tensor)) box.push_back({0, size});
  return box;
}

std::optional<bool> mlir::sgd::getTruth(Value tensor, const IndexBox& box) {
  std::optional<Interval> bounds = Evaluator().evaluate(tensor, box);
  if (!bounds || bounds->low != bounds->high) return std::nullopt;
  return bounds->low == 1;
}
