// Updates of parameters, written op by op.
#ifndef SGD_PASSES_GRAPH_TRAINING_OPTIMIZERS_H
#define SGD_PASSES_GRAPH_TRAINING_OPTIMIZERS_H

#include "passes/graph/expressions/tensor_math.h"
#include "passes/graph/training/training_settings.h"

namespace mlir::sgd {

/// Returns the names of the tensors that the optimizer keeps per parameter, in its shape and initially zero.
SmallVector<StringRef> getSlots(const OptimizerSettings& settings);

/// A parameter and the optimizer's tensors for it.
struct ParameterState {
  Value parameter;
  SmallVector<Value> slots;
};

/// One step of an optimizer. Scalars are f32.
class Optimizer {
 public:
  /// `learningRate` is a scalar of f32 for this step; `step` is a scalar integer that counts from 0.
  Optimizer(TensorMath& math, const OptimizerSettings& settings, Value learningRate, Value step);

  ParameterState update(const ParameterState& state, Value gradient, bool isDecayed);

 private:
  Value updateSgd(const ParameterState& from, Value gradient, ParameterState& to);
  Value updateAdagrad(const ParameterState& from, Value gradient, ParameterState& to);
  /// Returns Adam's update direction and updates the averages in `to`.
  Value getAdamDirection(const ParameterState& from, Value gradient, ParameterState& to);
  Value updateLamb(const ParameterState& from, Value gradient, bool isDecayed, ParameterState& to);
  Value updateLars(const ParameterState& from, Value gradient, bool isDecayed, ParameterState& to);
  Value updateLion(const ParameterState& from, Value gradient, bool isDecayed, ParameterState& to);

  Value number(double value, Value like) { return math.splat(tensorType(like), value); }
  Value scale(Value value, double factor) { return math.multiply(value, number(factor, value)); }
  /// Broadcasts a scalar to the shape and type of `like`.
  Value repeat(Value scalar, Value like);
  Value getNorm(Value value);
  /// factor * average + (1 - factor) * value.
  Value average(Value old, Value value, double factor);
  /// parameter * (1 - learning rate * decay).
  Value decay(Value parameter, bool isDecayed);
  /// parameter - learning rate * direction.
  Value descend(Value parameter, Value direction);
  /// 1 - beta^(step + 1), a scalar.
  Value getCorrection(double beta);

  TensorMath& math;
  const OptimizerSettings& settings;
  Value learningRate, count;  // scalars of f32; the count is that of the step, from 1
};

/// Returns the learning rate, f32, of `step`, a scalar integer that counts from 0.
Value writeLearningRate(TensorMath& math, const RateScheduleSettings& schedule, double rate, Value step);

/// Clips each element to `clipValue`, then scales all gradients so that their global norm is at most `clipNorm`.
SmallVector<Value> clip(TensorMath& math, ArrayRef<Value> gradients, const TrainingSettings& settings);

}  // namespace mlir::sgd

#endif
