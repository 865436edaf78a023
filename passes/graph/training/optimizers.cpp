// Formulas are those of PyTorch 2 where it has the optimizer: sgd, adagrad, adafactor, adam, adamw, muon. Lamb: You et
// al., "Large batch optimization for deep learning", 2020. Lars: You et al., "Large batch training of convolutional
// networks", 2017. Lion: Chen et al., "Symbolic discovery of optimization algorithms", 2023.
#include "passes/graph/training/optimizers.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "passes/graph/training/matrix_stack_writer.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isMuon(const OptimizerSettings& settings, size_t rank) {
  return settings.kind == OptimizerKind::Muon && rank == 2;
}

SmallVector<Slot> mlir::sgd::getSlots(const OptimizerSettings& settings, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> whole(shape);
  switch (settings.kind) {
    case OptimizerKind::Sgd:
    case OptimizerKind::Lars:
      if (settings.momentum == 0) return {};
      return {{"momentum_buffer", whole}};
    case OptimizerKind::Adagrad:
      return {{"sum", whole}};
    case OptimizerKind::Adafactor: {
      if (shape.size() < 2) return {{"variance", whole}};
      SmallVector<int64_t> row(shape), column(shape);
      row.back() = 1;
      column[shape.size() - 2] = 1;
      return {{"row_var", row}, {"col_var", column}};
    }
    case OptimizerKind::Muon:
      if (isMuon(settings, shape.size())) return {{"momentum_buffer", whole}};
      return {{"exp_avg", whole}, {"exp_avg_sq", whole}};
    case OptimizerKind::Adam:
    case OptimizerKind::AdamW:
    case OptimizerKind::Lamb:
      return {{"exp_avg", whole}, {"exp_avg_sq", whole}};
    case OptimizerKind::Lion:
      return {{"exp_avg", whole}};
  }
  llvm_unreachable("all kinds are handled");
}

Optimizer::Optimizer(TensorMath& math, const ParameterSettings& parameter, const MatrixRanks& ranks, Value factor,
                     Value step)
    : math(math), settings(parameter.optimizer), ranks(ranks), isDecayed(parameter.isDecayed) {
  learningRate = scale(factor, settings.learningRate);
  count = math.add(math.toFloat(step), math.splat(1.0, step));
}

Value Optimizer::repeat(Value scalar, Value like) {
  Value converted = math.convert(scalar, tensorType(like).getElementType());
  return math.broadcast(converted, {}, shapeOf(like));
}

/// A sum of squares is one of f32: elements of 16 bits overflow soon.
static Value getSquares(TensorMath& math, Value value) {
  Value wide = math.convert(value, math.getBuilder().getF32Type());
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
  Value squares = math.multiply(wide, wide);
  return all.empty() ? squares : math.reduce(squares, ReduceKind::Add, all);
}

Value Optimizer::getNorm(Value value) { return math.create<math::SqrtOp>(getSquares(math, value)); }

Value Optimizer::average(Value old, Value value, double factor) {
  return math.add(scale(old, factor), scale(value, 1 - factor));
}

Value Optimizer::decay(Value parameter) {
  if (!isDecayed || settings.weightDecay == 0) return parameter;
  Value factor = math.subtract(number(1, learningRate), scale(learningRate, settings.weightDecay));
  return math.multiply(parameter, repeat(factor, parameter));
}

Value Optimizer::descend(Value parameter, Value direction) {
  return math.subtract(parameter, math.multiply(repeat(learningRate, parameter), direction));
}

/// 1 - beta^count. As 1 - pow, the rounding of a beta near 1 to f32 would be an error of 1e-5 for 0.999.
Value Optimizer::getCorrection(double beta) {
  if (beta == 0) return number(1, count);
  Value exponent = math.multiply(count, number(std::log(beta), count));
  return math.minus(math.create<math::ExpM1Op>(exponent));
}

Value Optimizer::updateSgd(const ParameterState& from, Value gradient, ParameterState& to) {
  if (settings.momentum == 0) return descend(from.parameter, gradient);
  Value buffer = math.add(scale(from.slots[0], settings.momentum), gradient);
  to.slots = {buffer};
  Value direction = settings.nesterov ? math.add(gradient, scale(buffer, settings.momentum)) : buffer;
  return descend(from.parameter, direction);
}

Value Optimizer::updateAdagrad(const ParameterState& from, Value gradient, ParameterState& to) {
  Value sum = math.add(from.slots[0], math.multiply(gradient, gradient));
  to.slots = {sum};
  Value root = math.add(math.create<math::SqrtOp>(sum), number(settings.eps, sum));
  return descend(from.parameter, math.divide(gradient, root));
}

Value Optimizer::getAdamDirection(const ParameterState& from, Value gradient, ParameterState& to) {
  Value mean = average(from.slots[0], gradient, settings.beta1);
  Value squares = average(from.slots[1], math.multiply(gradient, gradient), settings.beta2);
  to.slots = {mean, squares};
  Value rootOfCorrection = math.create<math::SqrtOp>(getCorrection(settings.beta2));
  Value root = math.divide(math.create<math::SqrtOp>(squares), repeat(rootOfCorrection, squares));
  Value corrected = math.divide(mean, repeat(getCorrection(settings.beta1), mean));
  return math.divide(corrected, math.add(root, number(settings.eps, root)));
}

/// The ratio a / b, 1 where one of them is 0.
static Value getRatio(TensorMath& math, Value a, Value b) {
  Value zero = math.splat(tensorType(a), 0.0), one = math.splat(tensorType(a), 1.0);
  Value isUsable = math.both(math.isLess(zero, a), math.isLess(zero, b));
  return math.select(isUsable, math.divide(a, b), one);
}

Value Optimizer::updateLamb(const ParameterState& from, Value gradient, ParameterState& to) {
  Value direction = getAdamDirection(from, gradient, to);
  if (!isDecayed) return descend(from.parameter, direction);
  if (settings.weightDecay != 0) direction = math.add(direction, scale(from.parameter, settings.weightDecay));
  Value ratio = getRatio(math, getNorm(from.parameter), getNorm(direction));
  return descend(from.parameter, math.multiply(direction, repeat(ratio, direction)));
}

Value Optimizer::updateLars(const ParameterState& from, Value gradient, ParameterState& to) {
  if (isDecayed) {
    Value ofParameter = getNorm(from.parameter), ofGradient = getNorm(gradient);
    Value bound = ofGradient;
    if (settings.weightDecay != 0) {
      bound = math.add(ofGradient, scale(ofParameter, settings.weightDecay));
      gradient = math.add(gradient, scale(from.parameter, settings.weightDecay));
    }
    if (settings.eps != 0) bound = math.add(bound, number(settings.eps, bound));
    Value zero = number(0, bound), one = number(1, bound);
    Value isUsable = math.both(math.isLess(zero, ofParameter), math.isLess(zero, ofGradient));
    Value ratio = math.select(isUsable, math.divide(scale(ofParameter, settings.trust), bound), one);
    gradient = math.multiply(gradient, repeat(ratio, gradient));
  }
  return updateSgd(from, gradient, to);
}

Value Optimizer::updateLion(const ParameterState& from, Value gradient, ParameterState& to) {
  Value mixed = average(from.slots[0], gradient, settings.beta1);
  to.slots = {average(from.slots[0], gradient, settings.beta2)};
  Value zero = number(0, mixed);
  Value ofNegative = math.select(math.isLess(mixed, zero), number(-1, mixed), zero);
  Value sign = math.select(math.isLess(zero, mixed), number(1, mixed), ofNegative);
  return descend(decay(from.parameter), sign);
}

Value Optimizer::getRootMeanSquare(Value value) {
  Value squares = getSquares(math, value);
  double elements = static_cast<double>(tensorType(value).getNumElements());
  return math.create<math::SqrtOp>(math.divide(squares, number(elements, squares)));
}

Value Optimizer::getMeanSquares(Value value, int64_t dim) {
  SmallVector<int64_t> shape(shapeOf(value));
  double size = static_cast<double>(std::exchange(shape[dim], 1));
  Value sum = math.reshape(math.reduce(math.multiply(value, value), ReduceKind::Add, dim), shape);
  return scale(sum, 1 / size);
}

/// A matrix keeps the averages of its rows and of its columns, and the product of both stands for its elements.
Value Optimizer::updateAdafactor(const ParameterState& from, Value gradient, ParameterState& to) {
  Value share = math.create<math::PowFOp>(count, number(settings.beta2Decay, count));
  auto mix = [&](Value old, Value value) {
    return math.add(old, math.multiply(repeat(share, old), math.subtract(value, old)));
  };
  int64_t rank = tensorType(gradient).getRank();
  Value variance;
  if (rank < 2) {
    variance = mix(from.slots[0], math.multiply(gradient, gradient));
    to.slots = {variance};
  } else {
    Value rows = mix(from.slots[0], getMeanSquares(gradient, rank - 1));
    Value columns = mix(from.slots[1], getMeanSquares(gradient, rank - 2));
    to.slots = {rows, columns};
    SmallVector<int64_t> one(shapeOf(rows)), shape(shapeOf(gradient));
    double size = static_cast<double>(std::exchange(one[rank - 2], 1));
    Value mean = scale(math.reshape(math.reduce(rows, ReduceKind::Add, rank - 2), one), 1 / size);
    mean = math.maximum(mean, number(settings.eps, mean));
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    auto stretch = [&](Value value) { return math.broadcast(value, all, shape); };
    variance = math.divide(math.multiply(stretch(rows), stretch(columns)), stretch(mean));
  }
  Value direction =
      math.multiply(gradient, math.inverseRoot(math.maximum(variance, number(settings.eps * settings.eps, variance))));
  Value excess = math.maximum(scale(getRootMeanSquare(direction), 1 / settings.clipping), number(1, count));
  Value rate = math.minimum(learningRate, math.inverseRoot(count));
  Value size = math.maximum(getRootMeanSquare(from.parameter), number(settings.leastScale, count));
  Value step = math.divide(math.multiply(size, rate), excess);
  return math.subtract(decay(from.parameter), math.multiply(repeat(step, direction), direction));
}

Value Optimizer::getMuonDirection(Value momentum, Value gradient, Value& next) {
  next = average(momentum, gradient, settings.momentum);
  return settings.nesterov ? average(next, gradient, settings.momentum) : next;
}

double Optimizer::getMuonFactor(ArrayRef<int64_t> shape) const {
  double rows = static_cast<double>(shape[0]), columns = static_cast<double>(std::max<int64_t>(1, shape[1]));
  return settings.matchesAdamW ? 0.2 * std::sqrt(std::max(rows, columns)) : std::sqrt(std::max(1.0, rows / columns));
}

Value Optimizer::updateMuon(const ParameterState& from, Value gradient, ParameterState& to) {
  to.slots.resize(1);
  Value direction = getMuonDirection(from.slots[0], gradient, to.slots[0]);
  Value wide = math.convert(direction, math.getBuilder().getF32Type());
  Value orthogonal = math.convert(orthogonalizeTogether(math, wide, ranks), tensorType(direction).getElementType());
  return takeMuonStep(from.parameter, scale(orthogonal, getMuonFactor(shapeOf(gradient))));
}

ParameterState Optimizer::update(const ParameterState& state, Value gradient) {
  ParameterState to;
  using Kind = OptimizerKind;
  Kind kind = settings.kind;
  if (kind == Kind::Muon && !isMuon(settings, tensorType(gradient).getRank())) kind = Kind::AdamW;
  bool isCoupled = kind == Kind::Sgd || kind == Kind::Adagrad || kind == Kind::Adam;
  if (isCoupled && isDecayed && settings.weightDecay != 0)
    gradient = math.add(gradient, scale(state.parameter, settings.weightDecay));
  switch (kind) {
    case Kind::Sgd:
      to.parameter = updateSgd(state, gradient, to);
      break;
    case Kind::Adagrad:
      to.parameter = updateAdagrad(state, gradient, to);
      break;
    case Kind::Adafactor:
      to.parameter = updateAdafactor(state, gradient, to);
      break;
    case Kind::Adam:
      to.parameter = descend(state.parameter, getAdamDirection(state, gradient, to));
      break;
    case Kind::AdamW:
      to.parameter = descend(decay(state.parameter), getAdamDirection(state, gradient, to));
      break;
    case Kind::Lamb:
      to.parameter = updateLamb(state, gradient, to);
      break;
    case Kind::Lars:
      to.parameter = updateLars(state, gradient, to);
      break;
    case Kind::Lion:
      to.parameter = updateLion(state, gradient, to);
      break;
    case Kind::Muon:
      to.parameter = updateMuon(state, gradient, to);
      break;
  }
  return to;
}

// Schedules
// -----------------------------------------------------------------------------------------------------------------

namespace {

/// Scalars of f32.
class Curve {
 public:
  Curve(TensorMath& math, const RateScheduleSettings& schedule, Value step)
      : math(math), schedule(schedule), step(math.toFloat(step)) {}

  Value write() {
    Value factor = getDecline();
    if (schedule.warmup <= 0 || schedule.kind == RateScheduleKind::OneCycle) return factor;
    Value rising = math.divide(math.add(step, number(1)), number(static_cast<double>(schedule.warmup)));
    return math.select(math.isLess(step, number(static_cast<double>(schedule.warmup))), rising, factor);
  }

 private:
  Value number(double value) { return math.splat(value, step); }

  /// From 0 at the end of the warm-up to 1 at the end.
  Value getProgress() {
    double span = std::max<double>(1, static_cast<double>(schedule.steps - schedule.warmup));
    Value done = math.subtract(step, number(static_cast<double>(schedule.warmup)));
    Value share = math.divide(done, number(span));
    return math.minimum(math.maximum(share, number(0)), number(1));
  }
  /// end + (1 - end) * share.
  Value aboveEnd(Value share) {
    return schedule.end == 0 ? share : math.add(math.multiply(share, number(1 - schedule.end)), number(schedule.end));
  }

  /// From 1 where `share` is 0 to 0 where it is 1.
  Value fall(Value share) {
    Value cosine = math.create<math::CosOp>(math.multiply(share, number(std::numbers::pi)));
    return math.multiply(math.add(cosine, number(1)), number(0.5));
  }

  /// As PyTorch's OneCycleLR: up to step `warmup` - 1, then down to the last step.
  Value getCycle() {
    auto last = static_cast<double>(std::max<int64_t>(1, schedule.steps - 1));
    double top = std::min(last, static_cast<double>(std::max<int64_t>(1, schedule.warmup)) - 1);
    auto limit = [&](Value share) { return math.minimum(math.maximum(share, number(0)), number(1)); };
    auto between = [&](double from, double to, Value share) {
      return math.add(number(to), math.multiply(number(from - to), fall(share)));
    };
    Value up = limit(math.divide(step, number(std::max(top, 1e-9))));
    Value down = limit(math.divide(math.subtract(step, number(top)), number(std::max(last - top, 1e-9))));
    return math.select(math.isLess(number(top), step), between(1, schedule.end, down), between(schedule.start, 1, up));
  }

  Value getDecline() {
    switch (schedule.kind) {
      case RateScheduleKind::Constant:
        return number(1);
      case RateScheduleKind::Linear:
        return aboveEnd(math.subtract(number(1), getProgress()));
      case RateScheduleKind::Cosine:
        return aboveEnd(fall(getProgress()));
      case RateScheduleKind::Polynomial:
        return aboveEnd(math.create<math::PowFOp>(math.subtract(number(1), getProgress()), number(schedule.power)));
      case RateScheduleKind::InverseRoot: {
        double first = static_cast<double>(std::max<int64_t>(1, schedule.warmup));
        return math.create<math::SqrtOp>(
            math.divide(number(first), math.maximum(math.add(step, number(1)), number(first))));
      }
      case RateScheduleKind::Step: {
        Value falls = math.create<math::FloorOp>(math.divide(step, number(static_cast<double>(schedule.every))));
        return math.create<math::PowFOp>(number(schedule.gamma), falls);
      }
      case RateScheduleKind::OneCycle:
        return getCycle();
    }
    llvm_unreachable("all kinds are handled");
  }

  TensorMath& math;
  const RateScheduleSettings& schedule;
  Value step;
};

}  // namespace

Value mlir::sgd::writeRateFactor(TensorMath& math, const RateScheduleSettings& schedule, Value step) {
  return Curve(math, schedule, step).write();
}

SmallVector<Value> mlir::sgd::clip(TensorMath& math, ArrayRef<Value> gradients, const TrainingSettings& settings) {
  SmallVector<Value> clipped(gradients);
  if (settings.clipValue)
    for (Value& gradient : clipped) {
      RankedTensorType type = tensorType(gradient);
      gradient = math.maximum(math.minimum(gradient, math.splat(type, *settings.clipValue)),
                              math.splat(type, -*settings.clipValue));
    }
  if (!settings.clipNorm || clipped.empty()) return clipped;
  Value sum;
  for (Value gradient : clipped) {
    Value squares = getSquares(math, gradient);
    sum = sum ? math.add(sum, squares) : squares;
  }
  // As PyTorch: the norm plus 1e-6, and gradients only get smaller.
  Value norm = math.add(math.create<math::SqrtOp>(sum), math.splat(1e-6, sum));
  Value factor = math.minimum(math.divide(math.splat(*settings.clipNorm, sum), norm), math.splat(1.0, sum));
  for (Value& gradient : clipped) {
    Value own = math.broadcast(math.convert(factor, tensorType(gradient).getElementType()), {}, shapeOf(gradient));
    gradient = math.multiply(gradient, own);
  }
  return clipped;
}
