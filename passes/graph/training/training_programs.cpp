// Clones the forward function for each program.
#include "passes/graph/training/training_programs.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_names.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/autodiff/differentiate.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/functions/random_bits.h"
#include "passes/graph/training/eval_rows.h"
#include "passes/graph/training/initializers.h"
#include "passes/graph/training/model.h"
#include "passes/graph/training/optimizers.h"
#include "passes/graph/training/precision.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

func::FuncOp getFunction(ModuleOp program) { return *program.getOps<func::FuncOp>().begin(); }

bool isScalar(Type type) { return cast<RankedTensorType>(type).getRank() == 0; }

/// Turns a clone of the forward function into the train step.
class TrainWriter {
 public:
  TrainWriter(func::FuncOp function, const Model& model, const TrainingSettings& settings)
      : function(function),
        block(function.getBody().front()),
        model(model),
        settings(settings),
        builder(block.getTerminator()),
        math(builder, function.getLoc()) {}

  LogicalResult write() {
    SmallVector<Value> parameters =
        llvm::map_to_vector(model.parameters, [&](unsigned argument) -> Value { return block.getArgument(argument); });
    Value loss = block.getTerminator()->getOperand(model.loss);
    if (settings.precision.isDynamic) addLossScale();
    FailureOr<SmallVector<Value>> all = differentiate(builder, block, scaleLoss(loss), parameters);
    if (failed(all)) return failure();
    SmallVector<Value> gradients;
    for (auto [argument, gradient] : llvm::zip(model.parameters, *all))
      if (gradient) trained.push_back({argument, {}, {}}), gradients.push_back(gradient);
    if (trained.empty())
      return function.emitError() << "the loss depends on no parameter; expected one to train; name others by the "
                                     "recipe's 'train.parameters'";
    if (settings.precision.compute && settings.precision.sumsInF32) widenSums(gradients);
    addState();
    for (Value& gradient : gradients) gradient = unscale(gradient);
    if (settings.precision.isDynamic) isFinite = writeIsFinite(gradients);
    SmallVector<Value> clipped = clip(math, gradients, settings);
    keepResults();
    update(clipped);
    finish();
    return success();
  }

 private:
  /// A parameter that the loss depends on.
  struct Trained {
    unsigned argument = 0;
    ParameterSettings settings;
    SmallVector<unsigned> slots;  // positions of arguments
  };

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
    SmallVector<SmallVector<Slot>> slots;
    llvm::SetVector<StringRef> names;
    for (Trained& one : trained) {
      one.settings = settings.getParameterSettings(getInputName(function, one.argument));
      auto type = cast<RankedTensorType>(block.getArgument(one.argument).getType());
      slots.push_back(getSlots(one.settings.optimizer, type.getShape()));
      if (settings.average) slots.back().push_back({kAverageSlot, SmallVector<int64_t>(type.getShape())});
      for (const Slot& slot : slots.back()) names.insert(slot.name);
    }
    // All slots of one name, then all of the next.
    for (StringRef name : names)
      for (auto [one, own] : llvm::zip(trained, slots))
        for (const Slot& slot : own)
          if (slot.name == name) one.slots.push_back(addSlot(one.argument, slot));
    step = addArgument(RankedTensorType::get({}, builder.getI32Type()), kStepName);
  }

  unsigned addSlot(unsigned parameter, const Slot& slot) {
    auto type = cast<RankedTensorType>(block.getArgument(parameter).getType());
    return addArgument(type.clone(slot.shape), kSlotPrefix + slot.name + "/" + getInputName(function, parameter));
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

  // Loss scale
  // ---------------------------------------------------------------------------------------------------------------

  /// Adds the state of a dynamic scale: the scale, and the steps since it has changed.
  void addLossScale() {
    std::string first = llvm::formatv("constant({0:f9})", settings.precision.lossScale);
    lossScale = addArgument(RankedTensorType::get({}, builder.getF32Type()), kSlotPrefix + Twine(kLossScaleName));
    function.setArgAttr(lossScale, kInitAttr, builder.getStringAttr(first));
    scaleAge =
        addArgument(RankedTensorType::get({}, builder.getI32Type()), kSlotPrefix + Twine(kLossScaleName) + "_steps");
  }

  /// The scale as a number of the type of `like`; null: none.
  Value getScale(Value like) {
    if (settings.precision.isDynamic)
      return math.broadcast(math.convert(block.getArgument(lossScale), tensorType(like).getElementType()), {},
                            shapeOf(like));
    return settings.precision.lossScale == 1 ? Value() : math.splat(tensorType(like), settings.precision.lossScale);
  }

  Value scaleLoss(Value loss) {
    Value scale = getScale(loss);
    return scale ? math.multiply(loss, scale) : loss;
  }

  Value unscale(Value gradient) {
    Value scale = getScale(gradient);
    return scale ? math.divide(gradient, scale) : gradient;
  }

  /// Zero times a number is zero if the number is finite, else NaN.
  Value writeIsFinite(ArrayRef<Value> gradients) {
    Value sum;
    for (Value gradient : gradients) {
      Value zeros = math.multiply(gradient, math.splat(tensorType(gradient), 0.0));
      auto all = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(gradient).getRank()));
      if (!all.empty()) zeros = math.reduce(zeros, ReduceKind::Add, all);
      zeros = math.convert(zeros, builder.getF32Type());
      sum = sum ? math.add(sum, zeros) : zeros;
    }
    return math.isEqual(sum, math.splat(tensorType(sum), 0.0));
  }

  void updateLossScale() {
    Value scale = block.getArgument(lossScale), age = math.add(block.getArgument(scaleAge), math.index(1));
    auto times = [&](double factor) { return math.multiply(scale, math.splat(tensorType(scale), factor)); };
    Value grows = math.isEqual(age, math.index(settings.precision.growthSteps));
    addNext(lossScale, math.select(isFinite, math.select(grows, times(2), scale), times(0.5)));
    addNext(scaleAge, math.select(math.both(isFinite, math.negate(grows)), age, math.index(0)));
  }

  // Results
  // ---------------------------------------------------------------------------------------------------------------

  /// The next value of an argument, or the value that it has where the step is left out.
  void commit(unsigned argument, Value next) {
    if (isFinite) next = math.select(math.broadcast(isFinite, {}, shapeOf(next)), next, block.getArgument(argument));
    addNext(argument, next);
  }

  void addNext(unsigned argument, Value next) {
    Builder attributes(builder.getContext());
    results.push_back({next,
                       {attributes.getNamedAttr(kNameAttr, attributes.getStringAttr(getInputName(function, argument))),
                        attributes.getNamedAttr(kCarryAttr, attributes.getI64IntegerAttr(argument)),
                        attributes.getNamedAttr(kCarryBasisAttr, attributes.getStringAttr("names"))}});
  }

  void update(ArrayRef<Value> gradients) {
    Value count = block.getArgument(step), factor = writeRateFactor(math, settings.schedule, count);
    SmallVector<std::pair<unsigned, Value>> nextSlots;
    for (auto [one, gradient] : llvm::zip(trained, gradients)) {
      ParameterState state{block.getArgument(one.argument), {}};
      for (unsigned slot : one.slots) state.slots.push_back(block.getArgument(slot));
      ParameterState next = Optimizer(math, one.settings, factor, count).update(state, gradient);
      if (settings.average) next.slots.push_back(writeAverage(state.slots.back(), next.parameter, count));
      commit(one.argument, next.parameter);
      for (auto [slot, value] : llvm::zip(one.slots, next.slots)) nextSlots.emplace_back(slot, value);
    }
    llvm::sort(nextSlots, llvm::less_first());
    for (auto [slot, value] : nextSlots) commit(slot, value);
    commit(step, math.add(count, math.index(1)));
    if (isFinite) updateLossScale();
  }

  /// The moving average of a parameter, which starts as the parameter after the first step.
  Value writeAverage(Value average, Value parameter, Value count) {
    double decay = *settings.average;
    Value mixed = math.add(math.multiply(average, math.splat(tensorType(average), decay)),
                           math.multiply(parameter, math.splat(tensorType(parameter), 1 - decay)));
    Value isFirst = math.broadcast(math.isEqual(count, math.index(0)), {}, shapeOf(parameter));
    return math.select(isFirst, parameter, mixed);
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
  SmallVector<Trained> trained;
  unsigned step = 0;                     // the argument that counts steps
  unsigned lossScale = 0, scaleAge = 0;  // arguments
  Value isFinite;                        // whether all gradients are; null: not asked
  SmallVector<Result> results;
};

/// Makes an evaluation read the moving averages that training keeps, where it keeps one.
void readAverages(func::FuncOp evaluation, func::FuncOp train) {
  llvm::StringSet<> slots;
  for (unsigned argument = 0; argument < train.getNumArguments(); ++argument)
    slots.insert(getInputName(train, argument));
  for (unsigned argument = 0; argument < evaluation.getNumArguments(); ++argument) {
    std::string average = (kSlotPrefix + kAverageSlot + "/" + getInputName(evaluation, argument)).str();
    if (!slots.contains(average)) continue;
    evaluation.setArgAttr(argument, kNameAttr, StringAttr::get(evaluation.getContext(), average));
    evaluation.setArgAttr(argument, kRoleAttr, RoleAttr::get(evaluation.getContext(), Role::OptimizerState));
    evaluation.removeArgAttr(argument, kAliasesAttr);
  }
}

/// An evaluation leaves the model's state as it is.
void dropNextState(func::FuncOp function) {
  llvm::BitVector dropped(function.getNumResults());
  for (unsigned result = 0; result < dropped.size(); ++result)
    if (getCarriedArgument(function, result)) dropped.set(result);
  function.getBody().front().getTerminator()->eraseOperands(dropped);
  (void)function.eraseResults(dropped);
}

/// Returns zeros for the optimizer's state and the step, and arguments that have an initializer as it says.
class InitWriter {
 public:
  InitWriter(func::FuncOp init, func::FuncOp train)
      : init(init),
        train(train),
        block(init.getBody().front()),
        builder(block.getTerminator()),
        math(builder, init.getLoc()) {}

  LogicalResult write() {
    clear();
    SmallVector<Initial> initials;
    for (unsigned argument = 0; argument < train.getNumArguments(); ++argument)
      if (failed(addInitial(argument, initials))) return failure();
    drawKeys(llvm::count_if(initials, [](const Initial& one) { return one.isDrawn(); }));
    for (const Initial& initial : initials) writeValue(initial);
    block.getTerminator()->setOperands(values);
    init.setType(builder.getFunctionType(init.getArgumentTypes(), ValueRange(values).getTypes()));
    init.setResAttrsAttr(builder.getArrayAttr(attributes));
    return success();
  }

 private:
  void clear() {
    block.getTerminator()->setOperands({});
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (&op != block.getTerminator()) op.erase();
    (void)init.eraseArguments(llvm::BitVector(init.getNumArguments(), true));
  }

  struct Initial {
    unsigned argument;
    Initializer initializer;
    bool isDrawn() const { return initializer.kind != Initializer::Kind::Constant; }
  };

  LogicalResult addInitial(unsigned argument, SmallVector<Initial>& initials) {
    auto type = cast<RankedTensorType>(train.getArgumentTypes()[argument]);
    auto text = train.getArgAttrOfType<StringAttr>(argument, kInitAttr);
    if (!text && getRole(train, argument) != Role::OptimizerState) return success();
    Initializer initializer;
    if (text) {
      llvm::Expected<Initializer> parsed = parseInitializer(text.getValue(), type);
      if (!parsed)
        return emitError(train.getArgument(argument).getLoc())
               << "argument '" << getInputName(train, argument) << "': " << llvm::toString(parsed.takeError());
      initializer = *parsed;
    }
    initials.push_back({argument, initializer});
    return success();
  }

  /// A key for each tensor that is drawn, from the state of a generator that starts from the seed.
  void drawKeys(int64_t count) {
    if (count == 0) return;
    auto type = RankedTensorType::get({count}, builder.getI64Type());
    keys = writeRandomBits(math, addGenerator(init), type, BitGeneratorKind::ThreeFry).bits;
  }

  void writeValue(const Initial& initial) {
    auto type = cast<RankedTensorType>(train.getArgumentTypes()[initial.argument]);
    auto draw = [&](RankedTensorType words) {
      Value key = math.reshape(math.slice(keys, drawn, drawn + 1), {});
      ++drawn;
      return writeHashedWords(math, key, words);
    };
    values.push_back(writeInitial(math, initial.initializer, type, draw));
    attributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(kNameAttr, builder.getStringAttr(getInputName(train, initial.argument)))));
  }

  func::FuncOp init, train;
  Block& block;
  OpBuilder builder;
  TensorMath math;
  Value keys;         // i64, one for each tensor that is drawn
  int64_t drawn = 0;  // tensors
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
};

}  // namespace

/// Erases what nothing reads, and the argument of a generator that no longer draws.
static void eraseUnread(func::FuncOp function) {
  Block& block = function.getBody().front();
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) op.erase();
  llvm::BitVector unread(function.getNumArguments());
  for (BlockArgument argument : block.getArguments())
    if (argument.use_empty() && getRole(function, argument.getArgNumber()) == Role::Generator)
      unread.set(argument.getArgNumber());
  (void)function.eraseArguments(unread);
}

void mlir::sgd::dropStatisticsMarks(func::FuncOp function) {
  function.walk([](Operation* op) { op->removeAttr(kBatchStatisticsAttr); });
}

void mlir::sgd::resolveModes(func::FuncOp function, bool trains) {
  if (!function->removeAttr(kByModeAttr)) return;
  function.walk([&](arith::SelectOp select) {
    if (!select->hasAttr(kByModeAttr)) return;
    select.replaceAllUsesWith(trains ? select.getTrueValue() : select.getFalseValue());
    select.erase();
  });
}

LogicalResult mlir::sgd::makeTrainingPrograms(ModuleOp forward, const TrainingSettings& settings) {
  FailureOr<Model> model = readModel(getFunction(forward), settings);
  if (failed(model)) return failure();
  if (auto layer = getFunction(forward)->getAttrOfType<StringAttr>(kEvaluatesAttr))
    emitWarning(getFunction(forward).getLoc())
        << "the model was exported in eval() mode (the first such layer: " << layer.getValue()
        << "), so training drops nothing out and leaves running statistics as they are; call train() on the module "
           "before torch.export.export if that is not meant";
  OpBuilder builder(forward);
  auto clone = [&](StringRef name) {
    auto program = cast<ModuleOp>(builder.clone(*forward));
    program.setSymName(name);
    getFunction(program).setSymName(name);
    getFunction(program)->setAttr(kCarryIsKnownAttr, builder.getUnitAttr());
    return program;
  };
  ModuleOp init = clone(kInitProgram), train = clone(kTrainProgram), eval = clone(kEvalProgram);
  resolveModes(getFunction(train), /*trains=*/true);
  resolveModes(getFunction(eval), /*trains=*/false);
  for (ModuleOp program : {train, eval})
    for (unsigned parameter : model->parameters)
      getFunction(program).setArgAttr(parameter, kRoleAttr, RoleAttr::get(builder.getContext(), Role::Parameter));
  if (settings.groupStatistics && failed(settings.groupStatistics(getFunction(train)))) return failure();
  for (ModuleOp program : {train, eval}) dropStatisticsMarks(getFunction(program));
  if (settings.precision.compute) {
    narrowCompute(getFunction(train), *settings.precision.compute, settings.staysWide);
    narrowCompute(getFunction(eval), *settings.precision.compute, settings.staysWide);
  }
  if (failed(TrainWriter(getFunction(train), *model, settings).write())) return failure();
  func::FuncOp evaluation = getFunction(eval);
  setResultRole(evaluation, model->loss, Role::Loss);
  dropNextState(evaluation);
  eraseUnread(evaluation);
  countRows(evaluation);
  if (settings.average) readAverages(evaluation, getFunction(train));
  if (failed(InitWriter(getFunction(init), getFunction(train)).write())) return failure();
  forward.erase();
  return success();
}
