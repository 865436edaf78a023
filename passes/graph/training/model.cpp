// Names decide what is a parameter where frontends do not.
#include "passes/graph/training/model.h"

#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_names.h"
#include "passes/graph/autodiff/derivative_rule.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/function_carry.h"
#include "passes/graph/carry/value_names.h"
#include "passes/graph/training/loss_writer.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class ModelReader {
 public:
  ModelReader(func::FuncOp function, const TrainingSettings& settings) : function(function), settings(settings) {}

  FailureOr<Model> read() {
    Model model;
    if (!function->hasAttr(kCarryIsKnownAttr)) keepNamedState();
    std::optional<unsigned> own;
    if (settings.loss.kind == LossKind::Output) {
      FailureOr<unsigned> found = findLoss();
      if (failed(found)) return failure();
      own = *found;
    }
    FailureOr<unsigned> loss = writeLoss(function, settings, own);
    if (failed(loss)) return failure();
    model.loss = *loss;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (isParameter(argument)) model.parameters.push_back(argument);
    if (!model.parameters.empty()) return model;
    InFlightDiagnostic error = function.emitError()
                               << "no argument is a parameter to train; expected some whose names begin with "
                                  "'params', or that the recipe's 'train.parameters' matches; there are ";
    listArguments(error);
    return failure();
  }

 private:
  /// Results that are called like an argument are its next value, such as running statistics. Nothing else is known: a
  /// forward model updates no parameter.
  void keepNamedState() {
    CarryDecision decision = decideCarry(function);
    decision.doubts.clear();
    for (std::optional<CarryPair>& pair : decision.results)
      if (pair && (pair->basis != CarryBasis::Names || isParameter(pair->argument))) pair.reset();
    writeCarry(function, decision);
    for (const std::optional<CarryPair>& pair : decision.results)
      if (pair) function.setArgAttr(pair->argument, kRoleAttr, RoleAttr::get(function.getContext(), Role::Buffer));
  }

  bool isParameter(unsigned argument) {
    if (!hasGradients(function.getArgumentTypes()[argument])) return false;
    if (auto role = function.getArgAttrOfType<RoleAttr>(argument, kRoleAttr)) return role.getValue() == Role::Parameter;
    return settings.isParameter(getInputName(function, argument));
  }

  FailureOr<unsigned> findLoss() {
    if (!settings.loss.output.empty()) return findNamedLoss();
    if (std::optional<unsigned> known = findResult(function, Role::Loss)) return *known;
    SmallVector<unsigned> candidates;
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (isLossType(function.getResultTypes()[result]) && !getCarriedArgument(function, result))
        candidates.push_back(result);
    if (candidates.size() == 1) return candidates.front();
    InFlightDiagnostic error = function.emitError()
                               << (candidates.empty()
                                       ? "has no result that is one number of floats, and training needs a loss"
                                       : "has several results that could be the loss: ");
    llvm::interleaveComma(candidates, error, [&](unsigned result) { error << getOutputName(function, result); });
    error << "; expected one scalar; name it by the recipe's 'train.loss', or give the loss a kind, as in {\"kind\": "
             "\"softmax_cross_entropy\"}";
    return failure();
  }

  /// By its own name, or as recipes name tensors.
  bool isNamedLoss(unsigned result) {
    std::string name = getOutputName(function, result);
    return name == settings.loss.output || getDottedName(name) == getDottedName(settings.loss.output);
  }

  FailureOr<unsigned> findNamedLoss() {
    for (unsigned result = 0; result < function.getNumResults(); ++result) {
      if (!isNamedLoss(result)) continue;
      if (isLossType(function.getResultTypes()[result])) return result;
      return function.emitError() << "'" << settings.loss.output << "', the loss of the recipe's 'train.loss', is "
                                  << function.getResultTypes()[result]
                                  << "; expected a scalar of floats; name another result",
             failure();
    }
    InFlightDiagnostic error = function.emitError() << "no result is called '" << settings.loss.output
                                                    << "', as the recipe's 'train.loss' says; expected one of ";
    llvm::interleaveComma(llvm::seq(function.getNumResults()), error,
                          [&](unsigned result) { error << getOutputName(function, result); });
    return failure();
  }

  void listArguments(InFlightDiagnostic& error) {
    constexpr unsigned kMost = 8;
    unsigned count = function.getNumArguments();
    llvm::interleaveComma(llvm::seq(std::min(count, kMost)), error,
                          [&](unsigned argument) { error << getInputName(function, argument); });
    if (count > kMost) error << " and " << count - kMost << " more";
  }

  func::FuncOp function;
  const TrainingSettings& settings;
};

}  // namespace

FailureOr<Model> mlir::sgd::readModel(func::FuncOp function, const TrainingSettings& settings) {
  return ModelReader(function, settings).read();
}
