// Names and defaults.
#include "passes/graph/training/training_settings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir::sgd;

static constexpr std::pair<llvm::StringLiteral, OptimizerKind> kOptimizers[] = {
    {"sgd", OptimizerKind::Sgd},     {"adagrad", OptimizerKind::Adagrad}, {"adam", OptimizerKind::Adam},
    {"adamw", OptimizerKind::AdamW}, {"lamb", OptimizerKind::Lamb},       {"lars", OptimizerKind::Lars},
    {"lion", OptimizerKind::Lion},   {"muon", OptimizerKind::Muon},       {"adafactor", OptimizerKind::Adafactor}};

std::optional<OptimizerKind> mlir::sgd::parseOptimizer(llvm::StringRef name) {
  const auto* found = llvm::find_if(kOptimizers, [&](const auto& entry) { return entry.first == name; });
  return found == std::end(kOptimizers) ? std::nullopt : std::optional(found->second);
}

llvm::StringRef mlir::sgd::getName(OptimizerKind kind) {
  return llvm::find_if(kOptimizers, [&](const auto& entry) { return entry.second == kind; })->first;
}

std::optional<LossKind> mlir::sgd::parseLoss(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<LossKind>>(name)
      .Case("softmax_cross_entropy", LossKind::SoftmaxCrossEntropy)
      .Case("next_token", LossKind::NextToken)
      .Case("mse", LossKind::MeanSquares)
      .Case("bce", LossKind::BinaryCrossEntropy)
      .Default(std::nullopt);
}

std::optional<MetricKind> mlir::sgd::parseMetric(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<MetricKind>>(name)
      .Case("accuracy", MetricKind::Accuracy)
      .Case("perplexity", MetricKind::Perplexity)
      .Default(std::nullopt);
}

std::optional<RateScheduleKind> mlir::sgd::parseRateSchedule(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<RateScheduleKind>>(name)
      .Case("constant", RateScheduleKind::Constant)
      .Case("linear", RateScheduleKind::Linear)
      .Case("cosine", RateScheduleKind::Cosine)
      .Case("polynomial", RateScheduleKind::Polynomial)
      .Case("inverse_sqrt", RateScheduleKind::InverseRoot)
      .Case("step", RateScheduleKind::Step)
      .Case("one_cycle", RateScheduleKind::OneCycle)
      .Default(std::nullopt);
}

OptimizerSettings mlir::sgd::getDefaults(OptimizerKind kind) {
  OptimizerSettings settings;
  settings.kind = kind;
  switch (kind) {
    case OptimizerKind::Sgd:
    case OptimizerKind::Adam:
      break;
    case OptimizerKind::Adagrad:
      settings.learningRate = 1e-2;
      settings.eps = 1e-10;
      break;
    case OptimizerKind::Adafactor:
      settings.learningRate = 1e-2;
      settings.eps = 0x1p-23;  // of f32: the smallest difference from 1
      break;
    case OptimizerKind::Muon:
      settings.weightDecay = 0.1;
      settings.momentum = 0.95;
      settings.nesterov = true;
      break;
    case OptimizerKind::AdamW:
      settings.weightDecay = 1e-2;
      break;
    case OptimizerKind::Lamb:
      settings.eps = 1e-6;
      break;
    case OptimizerKind::Lars:
      settings.momentum = 0.9;
      break;
    case OptimizerKind::Lion:
      settings.learningRate = 1e-4;
      settings.beta2 = 0.99;
      break;
  }
  return settings;
}
