// Updates of parameters, written op by op.
#ifndef SGD_PASSES_GRAPH_TRAINING_OPTIMIZERS_H
#define SGD_PASSES_GRAPH_TRAINING_OPTIMIZERS_H

#include "passes/graph/expressions/tensor_math.h"
#include "passes/graph/training/training_settings.h"

namespace mlir::sgd {

/// A tensor that the optimizer keeps for a parameter, initially zero.
struct Slot {
  StringRef name;
  SmallVector<int64_t> shape;
};

/// Muon updates matrices; other parameters get AdamW.
bool isMuon(const OptimizerSettings& settings, size_t rank);

/// Returns what the optimizer keeps for a parameter of `shape`.
SmallVector<Slot> getSlots(const OptimizerSettings& settings, ArrayRef<int64_t> shape);

/// A parameter and the optimizer's tensors for it.
struct ParameterState {
  Value parameter;
  SmallVector<Value> slots;
};

/// One step of an optimizer. Scalars are f32.
class Optimizer {
 public:
  /// `factor`, a scalar of f32, multiplies the learning rate in this step; `step` is a scalar integer that counts from
  /// 0.
  Optimizer(TensorMath& math, const ParameterSettings& parameter, const MatrixRanks& ranks, Value factor, Value step);

  ParameterState update(const ParameterState& state, Value gradient);

  /// The parts of Muon's update, of tensors of any shape: the direction to orthogonalize, with the next momentum; the
  /// factor of the step of a matrix; the parameter after the step.
  Value getMuonDirection(Value momentum, Value gradient, Value& next);
  double getMuonFactor(ArrayRef<int64_t> shape) const;
  Value takeMuonStep(Value parameter, Value step) { return descend(decay(parameter), step); }

 private:
  Value updateAdafactor(const ParameterState& from, Value gradient, ParameterState& to);
  Value updateMuon(const ParameterState& from, Value gradient, ParameterState& to);
  Value updateSgd(const ParameterState& from, Value gradient, ParameterState& to);
  Value updateAdagrad(const ParameterState& from, Value gradient, ParameterState& to);
  /// Returns Adam's update direction and updates the averages in `to`.
  Value getAdamDirection(const ParameterState& from, Value gradient, ParameterState& to);
  Value updateLamb(const ParameterState& from, Value gradient, ParameterState& to);
  Value updateLars(const ParameterState& from, Value gradient, ParameterState& to);
  Value updateLion(const ParameterState& from, Value gradient, ParameterState& to);

  Value number(double value, Value like) { return math.splat(tensorType(like), value); }
  Value scale(Value value, double factor) { return math.multiply(value, number(factor, value)); }
  /// Broadcasts a scalar to the shape and type of `like`.
  Value repeat(Value scalar, Value like);
  Value getNorm(Value value);
  /// factor * average + (1 - factor) * value.
  Value average(Value old, Value value, double factor);
  /// parameter * (1 - learning rate * decay).
  Value decay(Value parameter);
  /// parameter - learning rate * direction.
  Value descend(Value parameter, Value direction);
  /// The square root of the mean square.
  Value getRootMeanSquare(Value value);
  /// The mean of squares over dimension `dim`, which keeps size 1.
  Value getMeanSquares(Value value, int64_t dim);
  /// 1 - beta^(step + 1), a scalar.
  Value getCorrection(double beta);

  TensorMath& math;
  const OptimizerSettings& settings;
  const MatrixRanks& ranks;
  const bool isDecayed;
  Value learningRate, count;  // scalars of f32; the count is that of the step, from 1
};

/// Returns the share of the learning rate, f32, that `step` has, a scalar integer that counts from 0.
Value writeRateFactor(TensorMath& math, const RateScheduleSettings& schedule, Value step);

/// Clips each element to `clipValue`, then scales all gradients so that their global norm is at most `clipNorm`.
SmallVector<Value> clip(TensorMath& math, ArrayRef<Value> gradients, const TrainingSettings& settings);

}  // namespace mlir::sgd

#endif
