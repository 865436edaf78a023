// Formulas are those of PyTorch 2 where it has the optimizer: sgd, adagrad, adam, adamw. Lamb: You et al., "Large batch
// optimization for deep learning", 2020. Lars: You et al., "Large batch training of convolutional networks", 2017.
// Lion: Chen et al., "Symbolic discovery of optimization algorithms", 2023.
#include "passes/graph/training/optimizers.h"

using namespace mlir;
using namespace mlir::sgd;

SmallVector<StringRef> mlir::sgd::getSlots(const OptimizerSettings& settings) {
  switch (settings.kind) {
    case OptimizerKind::Sgd:
    case OptimizerKind::Lars:
      if (settings.momentum == 0) return {};
      return {"momentum_buffer"};
    case OptimizerKind::Adagrad:
      return {"sum"};
    case OptimizerKind::Adam:
    case OptimizerKind::AdamW:
    case OptimizerKind::Lamb:
      return {"exp_avg", "exp_avg_sq"};
    case OptimizerKind::Lion:
      return {"exp_avg"};
  }
  llvm_unreachable("all kinds are handled");
}

Optimizer::Optimizer(TensorMath& math, const OptimizerSettings& settings, Value learningRate, Value step)
    : math(math), settings(settings), learningRate(learningRate) {
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

Value Optimizer::decay(Value parameter, bool isDecayed) {
  if (!isDecayed || settings.weightDecay == 0) return parameter;
  Value factor = math.subtract(number(1, learningRate), scale(learningRate, settings.weightDecay));
  return math.multiply(parameter, repeat(factor, parameter));
}

Value Optimizer::descend(Value parameter, Value direction) {
  return math.subtract(parameter, math.multiply(repeat(learningRate, parameter), direction));
}

Value Optimizer::getCorrection(double beta) {
  Value power = math.create<math::PowFOp>(number(beta, count), count);
  return math.subtract(number(1, count), power);
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

Value Optimizer::updateLamb(const ParameterState& from, Value gradient, bool isDecayed, ParameterState& to) {
  Value direction = getAdamDirection(from, gradient, to);
  if (!isDecayed) return descend(from.parameter, direction);
  if (settings.weightDecay != 0) direction = math.add(direction, scale(from.parameter, settings.weightDecay));
  Value ratio = getRatio(math, getNorm(from.parameter), getNorm(direction));
  return descend(from.parameter, math.multiply(direction, repeat(ratio, direction)));
}

Value Optimizer::updateLars(const ParameterState& from, Value gradient, bool isDecayed, ParameterState& to) {
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

Value Optimizer::updateLion(const ParameterState& from, Value gradient, bool isDecayed, ParameterState& to) {
  Value mixed = average(from.slots[0], gradient, settings.beta1);
  to.slots = {average(from.slots[0], gradient, settings.beta2)};
  Value zero = number(0, mixed);
  Value ofNegative = math.select(math.isLess(mixed, zero), number(-1, mixed), zero);
  Value sign = math.select(math.isLess(zero, mixed), number(1, mixed), ofNegative);
  return descend(decay(from.parameter, isDecayed), sign);
}

ParameterState Optimizer::update(const ParameterState& state, Value gradient, bool isDecayed) {
  ParameterState to;
  bool isDecoupled = settings.kind == OptimizerKind::AdamW || settings.kind == OptimizerKind::Lamb ||
                     settings.kind == OptimizerKind::Lion || settings.kind == OptimizerKind::Lars;
  if (!isDecoupled && isDecayed && settings.weightDecay != 0)
    gradient = math.add(gradient, scale(state.parameter, settings.weightDecay));
  switch (settings.kind) {
    case OptimizerKind::Sgd:
      to.parameter = updateSgd(state, gradient, to);
      break;
    case OptimizerKind::Adagrad:
      to.parameter = updateAdagrad(state, gradient, to);
      break;
    case OptimizerKind::Adam:
      to.parameter = descend(state.parameter, getAdamDirection(state, gradient, to));
      break;
    case OptimizerKind::AdamW:
      to.parameter = descend(decay(state.parameter, isDecayed), getAdamDirection(state, gradient, to));
      break;
    case OptimizerKind::Lamb:
      to.parameter = updateLamb(state, gradient, isDecayed, to);
      break;
    case OptimizerKind::Lars:
      to.parameter = updateLars(state, gradient, isDecayed, to);
      break;
    case OptimizerKind::Lion:
      to.parameter = updateLion(state, gradient, isDecayed, to);
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
    if (schedule.warmup <= 0) return factor;
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

  Value getDecline() {
    switch (schedule.kind) {
      case RateScheduleKind::Constant:
        return number(1);
      case RateScheduleKind::Linear:
        return aboveEnd(math.subtract(number(1), getProgress()));
      case RateScheduleKind::Cosine: {
        Value cosine = math.create<math::CosOp>(math.multiply(getProgress(), number(3.141592653589793)));
        return aboveEnd(math.multiply(math.add(cosine, number(1)), number(0.5)));
      }
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
    }
    llvm_unreachable("all kinds are handled");
  }

  TensorMath& math;
  const RateScheduleSettings& schedule;
  Value step;
};

}  // namespace

Value mlir::sgd::writeLearningRate(TensorMath& math, const RateScheduleSettings& schedule, double rate, Value step) {
  return math.multiply(Curve(math, schedule, step).write(), math.splat(rate, step));
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
