// How a forward model is trained: what a recipe's field `train` says. Plain C++, no IR.
#ifndef SGD_PASSES_GRAPH_TRAINING_TRAINING_SETTINGS_H
#define SGD_PASSES_GRAPH_TRAINING_TRAINING_SETTINGS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "passes/cost/cost_model.h"

namespace mlir {
class Operation;
namespace func {
class FuncOp;
}  // namespace func
}  // namespace mlir

namespace mlir::sgd {

enum class OptimizerKind : uint8_t { Sgd, Adagrad, Adafactor, Adam, AdamW, Lamb, Lars, Lion, Muon };

/// Rates of an optimizer: PyTorch's names and defaults where it has the optimizer, else those of its paper.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::Sgd;
  double learningRate = 1e-3;
  double momentum = 0;  ///< of sgd and lars
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weightDecay = 0;     ///< of adafactor, adamw, lamb, lion and muon decoupled from the gradient, else L2
  double trust = 1e-3;        ///< of lars: the coefficient of the ratio of norms
  double beta2Decay = -0.8;   ///< of adafactor: the exponent of the step in the decay of averages
  double leastScale = 1e-3;   ///< of adafactor: the least root mean square of a parameter that scales its steps
  double clipping = 1;        ///< of adafactor: the largest root mean square of a step
  bool matchesAdamW = false;  ///< of muon: scales steps to the size of AdamW's, instead of by the ratio of dimensions
};

/// How one parameter is updated. Without decay there is no weight decay, and of lars and lamb no ratio of norms.
struct ParameterSettings {
  OptimizerSettings optimizer;
  bool isDecayed = true;
};

enum class RateScheduleKind : uint8_t { Constant, Linear, Cosine, Polynomial, InverseRoot, Step, OneCycle };

/// The learning rate by step: `kind` after a warm-up that rises linearly from 1/warmup to 1. OneCycle rises by half a
/// cosine from `start` and falls by another one to `end`.
struct RateScheduleSettings {
  RateScheduleKind kind = RateScheduleKind::Constant;
  int64_t warmup = 0;   ///< steps
  int64_t steps = 0;    ///< at which Linear, Cosine and Polynomial end, the warm-up counted
  double end = 0;       ///< the part of the rate that is left there
  double start = 0.04;  ///< of OneCycle: the part that it begins with
  double power = 1;     ///< of Polynomial
  int64_t every = 1;    ///< of Step: steps between two falls
  double gamma = 0.1;   ///< of Step: the part that is left at each
};

enum class LossKind : uint8_t { Output, SoftmaxCrossEntropy, NextToken, MeanSquares, BinaryCrossEntropy };

/// The loss to minimize: a result of the model, or a function of a result and labels.
struct LossSettings {
  LossKind kind = LossKind::Output;
  std::string output;       ///< the name of a result; empty: the only one that fits
  std::string labels;       ///< the name of an argument; one is added where the model has none of this name
  double smoothing = 0;     ///< of SoftmaxCrossEntropy and NextToken
  bool softLabels = false;  ///< SoftmaxCrossEntropy: labels are probabilities of the classes
  int64_t ignored = -100;   ///< the label that does not count
};

enum class NarrowType : uint8_t { BFloat16, Float16 };

/// Mixed precision. Gradients of a scaled loss are divided by the scale; a dynamic scale halves, and the step is left
/// out, where a gradient is not finite, and doubles after `growthSteps` steps without.
struct PrecisionSettings {
  std::optional<NarrowType> compute;  ///< nothing: the model's own types
  bool sumsInF32 = true;              ///< of gradients, over ranks
  bool isDynamic = false;
  double lossScale = 1;  ///< the first one, if it is dynamic
  int64_t growthSteps = 2000;
};

/// The ranks over which updates that read whole matrices are dealt out.
struct MatrixRanks {
  std::vector<std::string> axes;  ///< of the mesh, major to minor
  int64_t size = 1;
  bool stacks = true;             ///< whether matrices may share stacks; else each is of all ranks
  bool shardsState = false;       ///< of the optimizer; else each rank has it whole
  bool shardsParameters = false;  ///< likewise
  /// Whether the recipe says how a parameter is sharded beside that, or the program does along `axes`. By its name.
  std::function<bool(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> axes)> isPlaced;
  std::shared_ptr<const CostModel> cost;  ///< of the mesh; null where there is one rank
  AxisParts parts;                        ///< `axes`, by their positions in the mesh
};

enum class MetricKind : uint8_t { Accuracy, Perplexity };

struct TrainingSettings {
  RateScheduleSettings schedule;
  LossSettings loss;
  PrecisionSettings precision;
  std::vector<MetricKind> metrics;
  std::optional<double> average;  ///< the decay of an exponential moving average of parameters, which `eval` reads
  std::optional<double> clipNorm, clipValue;
  MatrixRanks matrixRanks;
  /// By names of arguments.
  std::function<bool(llvm::StringRef)> isParameter;
  std::function<ParameterSettings(llvm::StringRef)> getParameterSettings;
  /// By ops: whether precision.compute leaves it out.
  std::function<bool(mlir::Operation*)> staysWide;
  /// Of `train`, before anything is added to it: computes statistics of batch norms by groups of rows. Null: of all
  /// rows.
  std::function<llvm::LogicalResult(mlir::func::FuncOp)> groupStatistics;
};

/// "sgd", "adamw", ...; nothing for any other word.
std::optional<OptimizerKind> parseOptimizer(llvm::StringRef name);
/// The inverse.
llvm::StringRef getName(OptimizerKind kind);
/// "softmax_cross_entropy", "next_token", ...
std::optional<LossKind> parseLoss(llvm::StringRef name);
/// "accuracy", "perplexity"
std::optional<MetricKind> parseMetric(llvm::StringRef name);
/// "constant", "cosine", ...
std::optional<RateScheduleKind> parseRateSchedule(llvm::StringRef name);

/// The optimizer with its defaults.
OptimizerSettings getDefaults(OptimizerKind kind);

}  // namespace mlir::sgd

#endif
