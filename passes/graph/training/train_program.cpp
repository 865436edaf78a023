// Gradients come first, then state, then updates; matrices in stacks are updated together.
#include "passes/graph/training/train_program.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_names.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "passes/graph/autodiff/differentiate.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/training/optimizers.h"
#include "passes/graph/training/precision.h"
#include "passes/graph/training/training_programs.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

bool isScalar(Type type) { return cast<RankedTensorType>(type).getRank() == 0; }

class TrainWriter {
 public:
  TrainWriter(func::FuncOp function, const Model& model, const TrainingSettings& settings)
      : function(function),
        block(function.getBody().front()),
        model(model),
        settings(settings),
        builder(block.getTerminator()),
        math(builder, function.getLoc()) {}

  /// Returns the stacks that parameters are in.
  FailureOr<SmallVector<ParameterStack>> write() {
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
    readSettings();
    formStacks(gradients);
    addState();
    joinGradients(gradients);
    for (Value& gradient : gradients) gradient = unscale(gradient);
    if (settings.precision.isDynamic) isFinite = writeIsFinite(gradients);
    SmallVector<Value> clipped = clip(math, gradients, settings);
    keepResults();
    update(clipped);
    finish();
    return parameterStacks;
  }

 private:
  /// A parameter that the loss depends on.
  struct Trained {
    unsigned argument = 0;
    ParameterSettings settings;
    SmallVector<unsigned> slots;  // positions of arguments
    bool isStacked = false;       // in a stack, which has its momentum
    bool isFree = false;          // a stack may have the parameter too
  };

  /// Matrices that are orthogonalized together.
  struct Stack {
    MatrixStack matrices;   // positions in `trained`
    unsigned momentum = 0;  // the argument
    // The argument that has the parameters, where they are stacked too.
    std::optional<unsigned> parameter = {};
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

  RankedTensorType getType(const Trained& one) const {
    return cast<RankedTensorType>(block.getArgument(one.argument).getType());
  }

  void readSettings() {
    for (Trained& one : trained) one.settings = settings.getParameterSettings(getInputName(function, one.argument));
  }

  /// Whether nothing but the stage of ZeRO shards the parameter.
  bool isFree(unsigned argument) {
    const MatrixRanks& ranks = settings.matrixRanks;
    if (!ranks.shardsParameters || settings.average || function.getArgAttr(argument, kAliasesAttr)) return false;
    SmallVector<StringRef> axes;
    if (auto sharding = function.getArgAttrOfType<ShardingAttr>(argument, kShardingAttr))
      for (DimShardingAttr dim : sharding.getDims())
        for (AxisRefAttr axis : dim.getAxes()) axes.push_back(axis.getName());
    return !ranks.isPlaced || !ranks.isPlaced(getInputName(function, argument), axes);
  }

  std::string getSlotName(const Trained& one, StringRef slot) {
    return (kSlotPrefix + slot + "/" + getInputName(function, one.argument)).str();
  }

  /// Whether the recipe says how the momentum of a matrix is sharded.
  bool isMomentumPlaced(const Trained& one) {
    const MatrixRanks& ranks = settings.matrixRanks;
    StringRef slot = getSlots(one.settings.optimizer, getType(one).getShape()).front().name;
    return ranks.isPlaced && ranks.isPlaced(getSlotName(one, slot), {});
  }

  /// Matrices of one kind have equal settings, as far as they are updated together.
  void formStacks(ArrayRef<Value> gradients) {
    SmallVector<std::tuple<double, bool, Type, bool, double, double, bool>> kinds;
    SmallVector<StackableMatrix> matrices;
    for (auto [one, gradient] : llvm::zip(trained, gradients)) {
      const OptimizerSettings& optimizer = one.settings.optimizer;
      StackableMatrix& matrix = matrices.emplace_back();
      if (!isMuon(optimizer, getType(one).getRank()) || isMomentumPlaced(one)) continue;
      one.isFree = isFree(one.argument);
      std::tuple kind(optimizer.momentum, optimizer.nesterov, tensorType(gradient).getElementType(), one.isFree,
                      one.isFree ? optimizer.learningRate : 0,
                      one.isFree && one.settings.isDecayed ? optimizer.weightDecay : 0,
                      one.isFree && optimizer.matchesAdamW);
      auto known = llvm::find(kinds, kind);
      matrix = {getType(one).getDimSize(0), getType(one).getDimSize(1), static_cast<unsigned>(known - kinds.begin())};
      if (known == kinds.end()) kinds.push_back(kind);
    }
    for (MatrixStack& stack : stackMatrices(matrices, settings.matrixRanks)) {
      for (unsigned position : stack.matrices) trained[position].isStacked = true;
      stacks.push_back({std::move(stack)});
    }
  }

  SmallVector<SmallVector<int64_t>> getShapes(const Stack& stack) const {
    return llvm::map_to_vector(stack.matrices.matrices, [&](unsigned position) {
      return SmallVector<int64_t>(getType(trained[position]).getShape());
    });
  }

  MatrixStackWriter getWriter(const Stack& stack) {
    return MatrixStackWriter(math, settings.matrixRanks, getShapes(stack), stack.matrices.slots, stack.matrices.owners);
  }

  /// Gradients of matrices in stacks come last, a tensor for each stack.
  void joinGradients(SmallVector<Value>& gradients) {
    SmallVector<Value> joined;
    for (auto [one, gradient] : llvm::zip(trained, gradients))
      if (!one.isStacked) joined.push_back(gradient);
    for (const Stack& stack : stacks)
      joined.push_back(getWriter(stack).join(llvm::map_to_vector(
          stack.matrices.matrices, [&](unsigned position) -> Value { return gradients[position]; })));
    gradients = std::move(joined);
  }

  void addState() {
    SmallVector<SmallVector<Slot>> slots;
    llvm::SetVector<StringRef> names;
    for (const Trained& one : trained) {
      ArrayRef<int64_t> shape = getType(one).getShape();
      slots.push_back(one.isStacked ? SmallVector<Slot>() : getSlots(one.settings.optimizer, shape));
      for (const Slot& slot : slots.back()) names.insert(slot.name);
      if (settings.average) slots.back().push_back({kAverageSlot, SmallVector<int64_t>(shape)});
    }
    if (settings.average) names.insert(kAverageSlot);  // the last of each parameter
    // All slots of one name, then all of the next.
    for (StringRef name : names)
      for (auto [one, own] : llvm::zip(trained, slots))
        for (const Slot& slot : own)
          if (slot.name == name) one.slots.push_back(addSlot(one, slot));
    for (Stack& stack : stacks) addStack(stack);
    step = addArgument(RankedTensorType::get({}, builder.getI32Type()), kStepName);
  }

  unsigned addSlot(const Trained& one, const Slot& slot) {
    return addArgument(getType(one).clone(slot.shape), getSlotName(one, slot.name));
  }

  /// The momentum of a stack, and its parameters where these are sharded by the stage of ZeRO alone.
  void addStack(Stack& stack) {
    SmallVector<std::string> names, slots;
    for (unsigned position : stack.matrices.matrices) {
      const Trained& one = trained[position];
      Slot slot = getSlots(one.settings.optimizer, getType(one).getShape()).front();
      names.push_back(getInputName(function, one.argument));
      slots.push_back(getSlotName(one, slot.name));
    }
    const Trained& first = trained[stack.matrices.matrices.front()];
    if (first.isFree) {
      parameterStacks.push_back({names, stack.matrices.slots, stack.matrices.owners});
      stack.parameter = addStackedParameters(function, parameterStacks.back(), settings.matrixRanks);
    }
    stack.momentum = function.getNumArguments();
    SmallVector<NamedAttribute> attributes =
        getStackAttributes(builder, Role::OptimizerState, slots, getShapes(stack),
                           getStackAxes(builder.getContext(), settings.matrixRanks, stack.matrices.owners));
    (void)function.insertArgument(stack.momentum, getWriter(stack).getType(getType(first).getElementType()),
                                  builder.getDictionaryAttr(attributes), function.getLoc());
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
    addParts(function, argument, results.back().attributes);
  }

  void update(ArrayRef<Value> gradients) {
    Value count = block.getArgument(step), factor = writeRateFactor(math, settings.schedule, count);
    SmallVector<std::pair<unsigned, Value>> nextSlots;
    SmallVector<Value> steps = updateStacks(gradients.take_back(stacks.size()), factor, nextSlots);
    for (auto [one, ownStep] : llvm::zip(trained, steps)) {
      if (one.isStacked && one.isFree) continue;
      ParameterState state{block.getArgument(one.argument), {}}, next;
      for (unsigned slot : one.slots) state.slots.push_back(block.getArgument(slot));
      Optimizer optimizer(math, one.settings, settings.matrixRanks, factor, count);
      if (one.isStacked) {
        next.parameter = optimizer.takeMuonStep(state.parameter, ownStep);
      } else {
        next = optimizer.update(state, gradients.front());
        gradients = gradients.drop_front();
      }
      if (settings.average) next.slots.push_back(writeAverage(state.slots.back(), next.parameter, count));
      commit(one.argument, next.parameter);
      for (auto [slot, value] : llvm::zip(one.slots, next.slots)) nextSlots.emplace_back(slot, value);
    }
    llvm::sort(nextSlots, llvm::less_first());
    for (auto [slot, value] : nextSlots) commit(slot, value);
    commit(step, math.add(count, math.index(1)));
    if (isFinite) updateLossScale();
  }

  /// Commits the parameters that stacks have. Returns the steps of the other stacked matrices, by position in
  /// `trained`.
  SmallVector<Value> updateStacks(ArrayRef<Value> gradients, Value factor,
                                  SmallVectorImpl<std::pair<unsigned, Value>>& nextSlots) {
    SmallVector<Value> steps(trained.size());
    for (auto [stack, gradient] : llvm::zip(stacks, gradients)) {
      ArrayRef<unsigned> matrices = stack.matrices.matrices;
      Optimizer optimizer(math, trained[matrices.front()].settings, settings.matrixRanks, factor,
                          block.getArgument(step));
      MatrixStackWriter writer = getWriter(stack);
      Value next, direction = optimizer.getMuonDirection(block.getArgument(stack.momentum), gradient, next);
      nextSlots.emplace_back(stack.momentum, next);
      auto factors = llvm::map_to_vector(getShapes(stack),
                                         [&](ArrayRef<int64_t> shape) { return optimizer.getMuonFactor(shape); });
      Value ownSteps = writer.scale(writer.orthogonalize(direction), factors);
      if (stack.parameter) {
        commit(*stack.parameter, optimizer.takeMuonStep(block.getArgument(*stack.parameter), ownSteps));
        continue;
      }
      for (auto [position, ownStep] : llvm::zip(matrices, writer.distribute(ownSteps))) steps[position] = ownStep;
    }
    return steps;
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
    eraseParameters(function, parameterStacks);
  }

  func::FuncOp function;
  Block& block;
  const Model& model;
  const TrainingSettings& settings;
  OpBuilder builder;
  TensorMath math;
  SmallVector<Trained> trained;
  SmallVector<Stack> stacks;
  SmallVector<ParameterStack> parameterStacks;
  unsigned step = 0;                     // the argument that counts steps
  unsigned lossScale = 0, scaleAge = 0;  // arguments
  Value isFinite;                        // whether all gradients are; null: not asked
  SmallVector<Result> results;
};

}  // namespace

FailureOr<SmallVector<ParameterStack>> mlir::sgd::writeTrain(func::FuncOp function, const Model& model,
                                                             const TrainingSettings& settings) {
  return TrainWriter(function, model, settings).write();
}
