// How a forward model is trained: what a recipe's field `train` says. Plain C++, no IR.
#ifndef SGD_PASSES_GRAPH_TRAINING_TRAINING_SETTINGS_H
#define SGD_PASSES_GRAPH_TRAINING_TRAINING_SETTINGS_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

enum class OptimizerKind : uint8_t { Sgd, Adagrad, Adam, AdamW, Lamb, Lars, Lion };

/// Rates of an optimizer: PyTorch's names and defaults where it has the optimizer, else those of its paper.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::Sgd;
  double learningRate = 1e-3;
  double momentum = 0;  ///< of sgd and lars
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weightDecay = 0;  ///< of adamw, lamb and lion decoupled from the gradient, else L2
  double trust = 1e-3;     ///< of lars: the coefficient of the ratio of norms
};

enum class RateScheduleKind : uint8_t { Constant, Linear, Cosine, Polynomial, InverseRoot, Step };

/// The learning rate by step: `kind` after a warm-up that rises linearly from 1/warmup to 1.
struct RateScheduleSettings {
  RateScheduleKind kind = RateScheduleKind::Constant;
  int64_t warmup = 0;  ///< steps
  int64_t steps = 0;   ///< at which Linear, Cosine and Polynomial end, the warm-up counted
  double end = 0;      ///< the part of the rate that is left there
  double power = 1;    ///< of Polynomial
  int64_t every = 1;   ///< of Step: steps between two falls
  double gamma = 0.1;  ///< of Step: the part that is left at each
};

struct TrainingSettings {
  OptimizerSettings optimizer;
  RateScheduleSettings schedule;
  std::string loss;  ///< the name of a result; empty: the only scalar of floats
  std::optional<double> clipNorm, clipValue;
  /// By names of arguments. A parameter that is not decayed has no weight decay, and of lars and lamb no ratio of
  /// norms.
  std::function<bool(llvm::StringRef)> isParameter, isDecayed;
};

/// "sgd", "adamw", ...; nothing for any other word.
std::optional<OptimizerKind> parseOptimizer(llvm::StringRef name);
/// "constant", "cosine", ...
std::optional<RateScheduleKind> parseRateSchedule(llvm::StringRef name);

/// The optimizer with its defaults.
OptimizerSettings getDefaults(OptimizerKind kind);

}  // namespace mlir::sgd

#endif
