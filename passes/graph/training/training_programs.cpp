// Clones the forward function for each program.
#include "passes/graph/training/training_programs.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "passes/graph/autodiff/differentiate.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/training/optimizers.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

std::string getArgumentName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return name ? name.str() : ("arg" + Twine(argument)).str();
}

std::string getResultName(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, kNameAttr);
  return name ? name.str() : ("result" + Twine(result)).str();
}

func::FuncOp getFunction(ModuleOp program) { return *program.getOps<func::FuncOp>().begin(); }

bool isScalar(Type type) { return cast<RankedTensorType>(type).getRank() == 0; }

/// The loss and the parameters of the forward function.
struct Model {
  unsigned loss = 0;
  SmallVector<unsigned> parameters;  // positions of arguments
};

class ModelReader {
 public:
  ModelReader(func::FuncOp function, const TrainingSettings& settings) : function(function), settings(settings) {}

  FailureOr<Model> read() {
    Model model;
    FailureOr<unsigned> loss = findLoss();
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
  bool isParameter(unsigned argument) {
    if (!hasGradients(function.getArgumentTypes()[argument])) return false;
    if (auto role = function.getArgAttrOfType<RoleAttr>(argument, kRoleAttr)) return role.getValue() == Role::Parameter;
    return settings.isParameter(getArgumentName(function, argument));
  }

  FailureOr<unsigned> findLoss() {
    if (!settings.loss.empty()) return findNamedLoss();
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
    llvm::interleaveComma(candidates, error, [&](unsigned result) { error << getResultName(function, result); });
    error << "; expected one scalar; name it by the recipe's 'train.loss'";
    return failure();
  }

  FailureOr<unsigned> findNamedLoss() {
    for (unsigned result = 0; result < function.getNumResults(); ++result) {
      if (getResultName(function, result) != settings.loss) continue;
      if (isLossType(function.getResultTypes()[result])) return result;
      return function.emitError() << "'" << settings.loss << "', the loss of the recipe's 'train.loss', is "
                                  << function.getResultTypes()[result]
                                  << "; expected a scalar of floats; name another result",
             failure();
    }
    InFlightDiagnostic error = function.emitError() << "no result is called '" << settings.loss
                                                    << "', as the recipe's 'train.loss' says; expected one of ";
    llvm::interleaveComma(llvm::seq(function.getNumResults()), error,
                          [&](unsigned result) { error << getResultName(function, result); });
    return failure();
  }

  void listArguments(InFlightDiagnostic& error) {
    constexpr unsigned kMost = 8;
    unsigned count = function.getNumArguments();
    llvm::interleaveComma(llvm::seq(std::min(count, kMost)), error,
                          [&](unsigned argument) { error << getArgumentName(function, argument); });
    if (count > kMost) error << " and " << count - kMost << " more";
  }

  func::FuncOp function;
  const TrainingSettings& settings;
};

/// Turns a clone of the forward function into the train step.
class TrainWriter {
 public:
  TrainWriter(func::FuncOp function, const Model& model, const TrainingSettings& settings)
      : function(function),
        block(function.getBody().front()),
        model(model),
        settings(settings),
        builder(block.getTerminator()),
        math(builder, function.getLoc()),
        slots(getSlots(settings.optimizer)) {}

  LogicalResult write() {
    SmallVector<Value> parameters =
        llvm::map_to_vector(model.parameters, [&](unsigned argument) -> Value { return block.getArgument(argument); });
    Value loss = block.getTerminator()->getOperand(model.loss);
    FailureOr<SmallVector<Value>> all = differentiate(builder, block, loss, parameters);
    if (failed(all)) return failure();
    SmallVector<Value> gradients;
    for (auto [argument, gradient] : llvm::zip(model.parameters, *all))
      if (gradient) trained.push_back(argument), gradients.push_back(gradient);
    if (trained.empty())
      return function.emitError() << "the loss depends on no parameter; expected one to train; name others by the "
                                     "recipe's 'train.parameters'";
    addState();
    SmallVector<Value> clipped = clip(math, gradients, settings);
    keepResults();
    update(clipped);
    finish();
    return success();
  }

 private:
  struct Result {
    Value value;
    SmallVector<NamedAttribute> attributes;
  };

  unsigned addArgument(Type type, const Twine& name) {
    unsigned position = function.getNumArguments();
    SmallVector<NamedAttribute> attributes = {
        builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
        builder.getNamedAttr(kRoleAttr, RoleAttr::get(builder.getContext(), Role::OptimizerState))};
    (void)function.insertArgument(position, type, builder.getDictionaryAttr(attributes), function.getLoc());
    return position;
  }

  void addState() {
    for (unsigned parameter : model.parameters)
      function.setArgAttr(parameter, kRoleAttr, RoleAttr::get(builder.getContext(), Role::Parameter));
    for (StringRef slot : slots)
      for (unsigned parameter : trained)
        addArgument(block.getArgument(parameter).getType(),
                    kSlotPrefix + slot + "/" + getArgumentName(function, parameter));
    step = addArgument(RankedTensorType::get({}, builder.getI32Type()), kStepName);
  }

  unsigned getSlot(size_t slot, size_t parameter) const {
    return step - (slots.size() - slot) * trained.size() + parameter;
  }

  /// Keeps the loss, then other scalars, then next values of the model's own state.
  void keepResults() {
    Operation* end = block.getTerminator();
    auto keep = [&](unsigned result) {
      auto attributes = function.getResultAttrDict(result);
      results.push_back({end->getOperand(result),
                         attributes ? llvm::to_vector(attributes.getValue()) : SmallVector<NamedAttribute>()});
    };
    keep(model.loss);
    llvm::erase_if(results.back().attributes,
                   [](NamedAttribute attribute) { return attribute.getName() == kRoleAttr; });
    results.back().attributes.push_back(
        builder.getNamedAttr(kRoleAttr, RoleAttr::get(builder.getContext(), Role::Loss)));
    auto isOther = [&](unsigned result) { return result != model.loss; };
    for (unsigned result : llvm::make_filter_range(llvm::seq(function.getNumResults()), isOther))
      if (isScalar(function.getResultTypes()[result]) && !getCarriedArgument(function, result)) keep(result);
    for (unsigned result : llvm::make_filter_range(llvm::seq(function.getNumResults()), isOther))
      if (getCarriedArgument(function, result)) keep(result);
  }

  void addNext(unsigned argument, Value next) {
    Builder attributes(builder.getContext());
    results.push_back(
        {next,
         {attributes.getNamedAttr(kNameAttr, attributes.getStringAttr(getArgumentName(function, argument))),
          attributes.getNamedAttr(kCarryAttr, attributes.getI64IntegerAttr(argument)),
          attributes.getNamedAttr(kCarryBasisAttr, attributes.getStringAttr("names"))}});
  }

  void update(ArrayRef<Value> gradients) {
    Value count = block.getArgument(step);
    Value rate = writeLearningRate(math, settings.schedule, settings.optimizer.learningRate, count);
    Optimizer optimizer(math, settings.optimizer, rate, count);
    SmallVector<ParameterState> updated;
    for (auto [index, argument] : llvm::enumerate(trained)) {
      ParameterState state{block.getArgument(argument), {}};
      for (size_t slot = 0; slot < slots.size(); ++slot) state.slots.push_back(block.getArgument(getSlot(slot, index)));
      updated.push_back(
          optimizer.update(state, gradients[index], settings.isDecayed(getArgumentName(function, argument))));
      addNext(argument, updated.back().parameter);
    }
    for (size_t slot = 0; slot < slots.size(); ++slot)
      for (size_t index = 0; index < updated.size(); ++index) addNext(getSlot(slot, index), updated[index].slots[slot]);
    addNext(step, math.add(count, math.index(1)));
  }

  void finish() {
    SmallVector<Value> values;
    SmallVector<Attribute> attributes;
    for (const Result& result : results) {
      values.push_back(result.value);
      attributes.push_back(builder.getDictionaryAttr(result.attributes));
    }
    block.getTerminator()->setOperands(values);
    function.setType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
    function.setResAttrsAttr(builder.getArrayAttr(attributes));
  }

  func::FuncOp function;
  Block& block;
  const Model& model;
  const TrainingSettings& settings;
  OpBuilder builder;
  TensorMath math;
  SmallVector<StringRef> slots;
  SmallVector<unsigned> trained;  // the parameters that the loss depends on
  unsigned step = 0;              // the argument that counts steps
  SmallVector<Result> results;
};

/// An evaluation leaves the model's state as it is.
void dropNextState(func::FuncOp function) {
  llvm::BitVector dropped(function.getNumResults());
  for (unsigned result = 0; result < dropped.size(); ++result)
    if (getCarriedArgument(function, result)) dropped.set(result);
  function.getBody().front().getTerminator()->eraseOperands(dropped);
  (void)function.eraseResults(dropped);
}

/// Returns zeros for the optimizer's state and the step.
void writeInit(func::FuncOp init, func::FuncOp train) {
  Block& block = init.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (unsigned argument = 0; argument < train.getNumArguments(); ++argument) {
    if (getRole(train, argument) != Role::OptimizerState) continue;
    auto type = cast<RankedTensorType>(train.getArgumentTypes()[argument]);
    values.push_back(arith::ConstantOp::create(builder, init.getLoc(), cast<TypedAttr>(builder.getZeroAttr(type))));
    attributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(kNameAttr, builder.getStringAttr(getArgumentName(train, argument)))));
  }
  Operation* end = block.getTerminator();
  end->setOperands(values);
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (&op != end && !llvm::is_contained(values, op.getNumResults() ? op.getResult(0) : Value())) op.erase();
  block.eraseArguments(0, block.getNumArguments());
  init.setType(builder.getFunctionType({}, ValueRange(values).getTypes()));
  init.removeArgAttrsAttr();
  init.setResAttrsAttr(builder.getArrayAttr(attributes));
}

}  // namespace

LogicalResult mlir::sgd::makeTrainingPrograms(ModuleOp forward, const TrainingSettings& settings) {
  FailureOr<Model> model = ModelReader(getFunction(forward), settings).read();
  if (failed(model)) return failure();
  OpBuilder builder(forward);
  auto clone = [&](StringRef name) {
    auto program = cast<ModuleOp>(builder.clone(*forward));
    program.setSymName(name);
    getFunction(program).setSymName(name);
    getFunction(program)->setAttr(kCarryIsKnownAttr, builder.getUnitAttr());
    return program;
  };
  ModuleOp init = clone(kInitProgram), train = clone(kTrainProgram), eval = clone(kEvalProgram);
  if (failed(TrainWriter(getFunction(train), *model, settings).write())) return failure();
  func::FuncOp evaluation = getFunction(eval);
  setResultRole(evaluation, model->loss, Role::Loss);
  for (unsigned parameter : model->parameters)
    evaluation.setArgAttr(parameter, kRoleAttr, RoleAttr::get(builder.getContext(), Role::Parameter));
  dropNextState(evaluation);
  writeInit(getFunction(init), getFunction(train));
  forward.erase();
  return success();
}
