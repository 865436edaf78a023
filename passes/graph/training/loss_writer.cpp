// Scores have the classes in their last dimension.
#include "passes/graph/training/loss_writer.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_names.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/functions/losses.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr llvm::StringLiteral kDefaultLabels = "labels";

class LossWriter {
 public:
  LossWriter(func::FuncOp function, const TrainingSettings& settings)
      : function(function),
        settings(settings),
        block(function.getBody().front()),
        builder(block.getTerminator()),
        math(builder, function.getLoc()) {}

  FailureOr<unsigned> write(std::optional<unsigned> own) {
    unsigned position = own.value_or(function.getNumResults());
    if (own) {
      loss = block.getTerminator()->getOperand(*own);
    } else {
      if (failed(findScores()) || failed(findLabels()) || failed(writeOwnLoss())) return failure();
      addResult(loss, "loss");
    }
    for (MetricKind metric : settings.metrics)
      if (failed(addMetric(metric))) return failure();
    return position;
  }

 private:
  bool hasClasses() const {
    return settings.loss.kind == LossKind::SoftmaxCrossEntropy || settings.loss.kind == LossKind::NextToken;
  }

  void listResults(InFlightDiagnostic& error) {
    llvm::interleaveComma(llvm::seq(function.getNumResults()), error, [&](unsigned result) {
      error << getOutputName(function, result) << " (" << function.getResultTypes()[result] << ")";
    });
  }

  /// The result that the loss is of, f32 at least.
  LogicalResult findScores() {
    SmallVector<unsigned> candidates;
    for (unsigned result = 0; result < function.getNumResults(); ++result) {
      auto type = cast<RankedTensorType>(function.getResultTypes()[result]);
      bool isAskedFor = settings.loss.output.empty() || getOutputName(function, result) == settings.loss.output;
      if (isAskedFor && isa<FloatType>(type.getElementType()) && type.getRank() > 0 &&
          !getCarriedArgument(function, result))
        candidates.push_back(result);
    }
    if (candidates.size() != 1) {
      InFlightDiagnostic error = function.emitError()
                                 << (settings.loss.output.empty()
                                         ? "not one result alone is a tensor of floats that a loss could be of"
                                         : "no result called '" + settings.loss.output +
                                               "', as the recipe's 'train.loss.logits' says, is a tensor of floats")
                                 << "; name one by 'train.loss.logits'; there are ";
      listResults(error);
      return error;
    }
    scores = block.getTerminator()->getOperand(candidates.front());
    Type element = tensorType(scores).getElementType();
    if (element.getIntOrFloatBitWidth() < 32) scores = math.convert(scores, builder.getF32Type());
    return success();
  }

  /// The type of labels that the model has no argument for.
  RankedTensorType getLabelType() {
    RankedTensorType type = tensorType(scores);
    bool areIntegers = settings.loss.kind == LossKind::SoftmaxCrossEntropy && !settings.loss.softLabels;
    auto index = function->getAttrOfType<TypeAttr>(kIndexTypeAttr);
    Type element = index ? index.getValue() : builder.getI32Type();
    return areIntegers ? RankedTensorType::get(type.getShape().drop_back(), element) : type;
  }

  LogicalResult findLabels() {
    StringRef name = settings.loss.labels.empty() ? StringRef(kDefaultLabels) : StringRef(settings.loss.labels);
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (getInputName(function, argument) == name) return takeLabels(argument);
    if (settings.loss.kind == LossKind::NextToken) return settings.loss.labels.empty() ? findTokens() : refuseTokens();
    NamedAttribute attributes[] = {builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
                                   builder.getNamedAttr(kRoleAttr, RoleAttr::get(builder.getContext(), Role::Input))};
    unsigned position = function.getNumArguments();
    if (failed(function.insertArgument(position, getLabelType(), builder.getDictionaryAttr(attributes),
                                       NameLoc::get(builder.getStringAttr(name), function.getLoc()))))
      return failure();
    labels = function.getArgument(position);
    return success();
  }

  /// Tokens are the model's own: another name is not that of an argument to add.
  LogicalResult refuseTokens() {
    InFlightDiagnostic error = function.emitError() << "no argument is called '" << settings.loss.labels
                                                    << "', as the recipe's 'train.loss.labels' says; expected one of ";
    llvm::interleaveComma(llvm::seq(function.getNumArguments()), error,
                          [&](unsigned argument) { error << getInputName(function, argument); });
    return error;
  }

  /// The labels of the next token are the tokens themselves: the only argument that fits.
  LogicalResult findTokens() {
    SmallVector<unsigned> candidates;
    ArrayRef<int64_t> shape = shapeOf(scores).drop_back();
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
      auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
      bool isCarried = getCarriedArguments(function)[argument];
      if (!isCarried && type.getElementType().isInteger() && type.getShape() == shape) candidates.push_back(argument);
    }
    if (candidates.size() == 1) return takeLabels(candidates.front());
    return function.emitError() << "'next_token' predicts an argument of integers of the shape of the scores without "
                                   "classes, and "
                                << candidates.size() << " fit; expected one; name it by 'train.loss.labels'";
  }

  LogicalResult takeLabels(unsigned argument) {
    labels = function.getArgument(argument);
    RankedTensorType type = tensorType(labels), wanted = tensorType(scores);
    bool areIntegers = type.getElementType().isInteger();
    if (settings.loss.kind == LossKind::NextToken || (hasClasses() && areIntegers))
      wanted = type.clone(wanted.getShape().drop_back());
    if (type.getShape() == wanted.getShape() && (areIntegers || settings.loss.kind != LossKind::NextToken))
      return success();
    return function.emitError() << "argument '" << getInputName(function, argument) << "', the labels, is " << type
                                << " where the scores are " << tensorType(scores) << "; expected labels of the shape "
                                << "of the scores" << (hasClasses() ? ", or integers without the last dimension" : "")
                                << "; name another argument by 'train.loss.labels'";
  }

  /// Drops the last score and the first token: each token is predicted from those before it.
  LogicalResult shift() {
    SmallVector<int64_t> ends(shapeOf(scores)), begins(ends.size(), 0);
    size_t time = ends.size() - 2;
    if (ends.size() < 2 || ends[time] < 2)
      return function.emitError() << "'next_token' needs scores of at least two tokens, and they are "
                                  << tensorType(scores) << "; expected [.., tokens, classes]";
    SmallVector<int64_t> labelEnds(shapeOf(labels)), labelBegins(labelEnds.size(), 0);
    --ends[time];
    labelBegins[time] = 1;
    scores = math.slice(scores, begins, ends);
    labels = math.slice(labels, labelBegins, labelEnds);
    return success();
  }

  LabelOptions getLabelOptions() {
    return {tensorType(scores).getRank() - 1, settings.loss.smoothing, settings.loss.ignored, {}};
  }

  LogicalResult writeOwnLoss() {
    if (settings.loss.kind == LossKind::NextToken && failed(shift())) return failure();
    Type element = tensorType(scores).getElementType();
    if (!hasClasses() && tensorType(labels).getElementType().isInteger())
      labels = math.create<arith::SIToFPOp>(tensorType(labels).clone(element), labels);
    bool areFloats = isa<FloatType>(tensorType(labels).getElementType());
    if (areFloats) labels = math.convert(labels, element);
    if (settings.loss.kind == LossKind::MeanSquares) {
      Value distance = math.subtract(scores, labels);
      loss = writeMean(math, {math.multiply(distance, distance), {}});
    } else if (settings.loss.kind == LossKind::BinaryCrossEntropy) {
      loss = writeMean(math, {writeBinaryLosses(math, scores, labels), {}});
    } else {
      int64_t dim = tensorType(scores).getRank() - 1;
      Value logs = writeSoftmax(math, scores, dim, /*isLogarithm=*/true);
      Losses losses = areFloats ? Losses{writeSoftLabelLosses(math, logs, labels, dim, settings.loss.smoothing), {}}
                                : writeLabelLosses(math, logs, labels, getLabelOptions());
      loss = writeMean(math, losses);
    }
    return success();
  }

  LogicalResult addMetric(MetricKind metric) {
    if (metric == MetricKind::Perplexity) {
      addResult(math.exponential(loss), "perplexity");
      return success();
    }
    if (!labels || !hasClasses() || !tensorType(labels).getElementType().isInteger())
      return function.emitError() << "the metric 'accuracy' compares scores with labels of classes, and the loss has "
                                     "none; expected the loss 'softmax_cross_entropy' or 'next_token' with integers; "
                                     "leave the metric out, or return it as a scalar of the model";
    addResult(writeMean(math, writeHits(math, scores, labels, getLabelOptions())), "accuracy");
    return success();
  }

  void addResult(Value value, StringRef name) {
    Operation* end = block.getTerminator();
    unsigned position = end->getNumOperands();
    end->insertOperands(position, value);
    SmallVector<Attribute> attributes;
    if (ArrayAttr known = function.getResAttrsAttr()) attributes.assign(known.begin(), known.end());
    attributes.resize(position, builder.getDictionaryAttr({}));
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(kNameAttr, builder.getStringAttr(name))));
    function.setType(builder.getFunctionType(function.getArgumentTypes(), end->getOperands().getTypes()));
    function.setResAttrsAttr(builder.getArrayAttr(attributes));
  }

  func::FuncOp function;
  const TrainingSettings& settings;
  Block& block;
  OpBuilder builder;
  TensorMath math;
  Value scores, labels, loss;
};

}  // namespace

FailureOr<unsigned> mlir::sgd::writeLoss(func::FuncOp function, const TrainingSettings& settings,
                                         std::optional<unsigned> loss) {
  return LossWriter(function, settings).write(loss);
}
