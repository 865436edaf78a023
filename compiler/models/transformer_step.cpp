// The training step of a GPT, forward and back, op by op.
//
// Shapes: b sequences of s positions, h features, n heads of d = h / n, f = 4 h, V words.
#include <cmath>

#include "compiler/models/graph_text.h"
#include "compiler/models/transformer.h"

using namespace mlir::sgd;
using Tensor = TensorText;

namespace {

constexpr double kEpsilon = 1e-5, kRate = 1e-4, kBeta1 = 0.9, kBeta2 = 0.95;

struct Norm {
  Tensor normalized, deviation;  // f32: [b, s, h], 1 / standard deviation [b, s]
};

/// Values of a layer's forward pass that its backward pass reads.
struct Layer {
  Tensor input, qkv, context, middle, up;
  Tensor query, key, value;  // [b, s, n, d]
  Tensor visible, weights;   // a mask, and f32
  Norm first, second;
};

class Step {
 public:
  explicit Step(const Transformer& model)
      : model(model), b(model.globalBatch), s(model.sequence), h(model.hidden), n(model.heads), d(h / n) {}

  std::string write();

 private:
  struct Parameter {
    std::string path;
    Tensor value;                  // of the model's type
    Tensor master, first, second;  // f32: itself, where the model has another type, and its moments
    Tensor gradient;
    llvm::SmallVector<Tensor> rows;  // the gradient's, of norms
  };

  size_t addParameter(const std::string& path, llvm::ArrayRef<int64_t> dims);
  Tensor read(size_t parameter) { return parameters[parameter].value; }
  /// [h], f32.
  Tensor readRow(size_t parameter, int64_t row) {
    return wide(g.reshape(g.slice(parameters[parameter].value, 0, row), {h}));
  }

  Norm normalize(const Tensor& x);
  /// With the scale in `row` of the parameter, and the bias behind it.
  Tensor applyNorm(const Norm& norm, size_t parameter, int64_t row);
  /// Of the norm's input, f32; keeps the gradients of scale and bias.
  Tensor differentiateNorm(const Norm& norm, size_t parameter, int64_t row, const Tensor& gradient);
  bool hasMasters() const { return model.dtype != "f32"; }
  Tensor wide(const Tensor& value) { return g.convert(value, "f32"); }
  Tensor narrow(const Tensor& value) { return g.convert(value, model.dtype); }
  Tensor sumOver(const Tensor& value, llvm::ArrayRef<int64_t> dims) { return g.reduce("add", value, dims); }

  Tensor isVisible(const Tensor& scores);
  Tensor computeWeights(const Tensor& query, const Tensor& key, Tensor& visible);
  Tensor pick(const Tensor& qkv, int64_t which);
  void attend(Layer& layer);
  Tensor gelu(const Tensor& x);
  Tensor differentiateGelu(const Tensor& x, const Tensor& gradient);
  Layer forward(size_t first, const Tensor& input, Tensor& output);
  Tensor backward(size_t first, Layer layer, Tensor gradient);
  Tensor differentiateAttention(const Layer& layer, const Tensor& gradient);

  void addInputs();
  Tensor addHead(const Tensor& hidden, Tensor& gradient);
  void update(const Tensor& loss);

  const Transformer& model;
  int64_t b, s, h, n, d;
  GraphText g;
  std::vector<Parameter> parameters;
  Tensor tokens, labels;
  size_t embedding = 0, positions = 0, lastNorm = 0;
  std::vector<size_t> layers;  // the first parameter of each
};

/// Places of a layer's parameters behind its first.
enum Place : size_t { kNorms, kQkv, kOutput, kUp, kDown };

/// Rows of a layer's norms: a scale, and a bias behind it. Together they are large enough to be sharded.
enum Row : int64_t { kFirst = 0, kSecond = 2 };

}  // namespace

size_t Step::addParameter(const std::string& path, llvm::ArrayRef<int64_t> dims) {
  Parameter parameter;
  parameter.path = path;
  parameter.value = g.addArgument("state['params']" + path, dims, model.dtype);
  parameters.push_back(std::move(parameter));
  return parameters.size() - 1;
}

void Step::addInputs() {
  embedding = addParameter("['embedding']", {model.vocabulary, h});
  positions = addParameter("['positions']", {s, h});
  for (int64_t number = 0; number < model.layers; ++number) {
    std::string path = "['layer" + std::to_string(number) + "']";
    layers.push_back(addParameter(path + "['norms']", {4, h}));
    addParameter(path + "['qkv']", {h, 3, n, d});
    addParameter(path + "['output']", {n, d, h});
    addParameter(path + "['up']", {h, 4 * h});
    addParameter(path + "['down']", {4 * h, h});
  }
  lastNorm = addParameter("['norms']", {2, h});
  for (Parameter& parameter : parameters)
    parameter.master =
        hasMasters() ? g.addArgument("state['master']" + parameter.path, parameter.value.dims, "f32") : parameter.value;
  for (Parameter& parameter : parameters)
    parameter.first = g.addArgument("state['first']" + parameter.path, parameter.value.dims, "f32");
  for (Parameter& parameter : parameters)
    parameter.second = g.addArgument("state['second']" + parameter.path, parameter.value.dims, "f32");
  tokens = g.addArgument("tokens", {b, s}, "i32");
  labels = g.addArgument("labels", {b, s}, "i32");
}

Norm Step::normalize(const Tensor& x) {
  Tensor value = wide(x);
  double share = 1.0 / static_cast<double>(h);
  Tensor mean = g.scale(sumOver(value, {2}), share);
  Tensor centered = g.binary("subtract", value, g.broadcast(mean, {0, 1}, value.dims));
  Tensor variance = g.scale(sumOver(g.binary("multiply", centered, centered), {2}), share);
  Tensor shifted = g.binary("add", variance, g.broadcast(g.constant(kEpsilon, {}, "f32"), {}, variance.dims));
  Norm norm;
  norm.deviation = g.unary("rsqrt", shifted);
  norm.normalized = g.binary("multiply", centered, g.broadcast(norm.deviation, {0, 1}, value.dims));
  return norm;
}

Tensor Step::applyNorm(const Norm& norm, size_t parameter, int64_t row) {
  const auto& dims = norm.normalized.dims;
  Tensor scaled = g.binary("multiply", norm.normalized, g.broadcast(readRow(parameter, row), {2}, dims));
  return narrow(g.binary("add", scaled, g.broadcast(readRow(parameter, row + 1), {2}, dims)));
}

Tensor Step::differentiateNorm(const Norm& norm, size_t parameter, int64_t row, const Tensor& gradient) {
  Tensor value = wide(gradient);
  llvm::SmallVector<Tensor>& rows = parameters[parameter].rows;
  rows.resize(parameters[parameter].value.dims[0]);
  rows[row] = g.reshape(sumOver(g.binary("multiply", value, norm.normalized), {0, 1}), {1, h});
  rows[row + 1] = g.reshape(sumOver(value, {0, 1}), {1, h});
  Tensor inner = g.binary("multiply", value, g.broadcast(readRow(parameter, row), {2}, value.dims));
  double share = 1.0 / static_cast<double>(h);
  Tensor mean = g.scale(sumOver(inner, {2}), share);
  Tensor slope = g.scale(sumOver(g.binary("multiply", inner, norm.normalized), {2}), share);
  Tensor result = g.binary("subtract", inner, g.broadcast(mean, {0, 1}, value.dims));
  result = g.binary("subtract", result, g.binary("multiply", norm.normalized, g.broadcast(slope, {0, 1}, value.dims)));
  return g.binary("multiply", result, g.broadcast(norm.deviation, {0, 1}, value.dims));
}

/// Queries, keys or values of [b, s, 3, n, d].
Tensor Step::pick(const Tensor& qkv, int64_t which) { return g.reshape(g.slice(qkv, 2, which), {b, s, n, d}); }

/// Columns up to the row, of [b, n, s, s].
Tensor Step::isVisible(const Tensor& scores) { return g.compare("GE", g.iota(2, scores.dims), g.iota(3, scores.dims)); }

/// Softmax of causal scores, [b, n, s, s].
Tensor Step::computeWeights(const Tensor& query, const Tensor& key, Tensor& visible) {
  Tensor scores = wide(g.dot(query, key, {0, 2}, {0, 2}, {3}, {3}, model.dtype));
  scores = g.scale(scores, 1 / std::sqrt(static_cast<double>(d)));
  visible = isVisible(scores);
  scores = g.select(visible, scores, g.broadcast(g.constant(-1e30, {}, "f32"), {}, scores.dims));
  Tensor most = g.reduce("maximum", scores, {3});
  Tensor powers = g.unary("exponential", g.binary("subtract", scores, g.broadcast(most, {0, 1, 2}, scores.dims)));
  Tensor sum = sumOver(powers, {3});
  return g.binary("divide", powers, g.broadcast(sum, {0, 1, 2}, scores.dims));
}

void Step::attend(Layer& layer) {
  layer.query = pick(layer.qkv, 0);
  layer.key = pick(layer.qkv, 1);
  layer.value = pick(layer.qkv, 2);
  layer.weights = computeWeights(layer.query, layer.key, layer.visible);
  layer.context = g.dot(narrow(layer.weights), layer.value, {0, 1}, {0, 2}, {3}, {1}, model.dtype);
}

/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
Tensor Step::gelu(const Tensor& x) {
  Tensor cube = g.binary("multiply", x, g.binary("multiply", x, x));
  Tensor inner = g.scale(g.binary("add", x, g.scale(cube, 0.044715)), std::sqrt(2 / M_PI));
  Tensor one = g.broadcast(g.constant(1, {}, x.element), {}, x.dims);
  return g.binary("multiply", g.scale(x, 0.5), g.binary("add", one, g.unary("tanh", inner)));
}

Tensor Step::differentiateGelu(const Tensor& x, const Tensor& gradient) {
  double root = std::sqrt(2 / M_PI);
  Tensor square = g.binary("multiply", x, x);
  Tensor one = g.broadcast(g.constant(1, {}, x.element), {}, x.dims);
  Tensor inner = g.scale(g.binary("add", x, g.scale(g.binary("multiply", x, square), 0.044715)), root);
  Tensor tanh = g.unary("tanh", inner);
  Tensor left = g.scale(g.binary("add", one, tanh), 0.5);
  Tensor slope = g.binary("subtract", one, g.binary("multiply", tanh, tanh));
  Tensor growth = g.scale(g.binary("add", one, g.scale(square, 3 * 0.044715)), root);
  Tensor right = g.binary("multiply", g.scale(x, 0.5), g.binary("multiply", slope, growth));
  return g.binary("multiply", gradient, g.binary("add", left, right));
}

Layer Step::forward(size_t first, const Tensor& input, Tensor& output) {
  Layer layer;
  layer.input = input;
  layer.first = normalize(input);
  Tensor normalized = applyNorm(layer.first, first + kNorms, kFirst);
  layer.qkv = g.dot(normalized, read(first + kQkv), {}, {}, {2}, {0}, model.dtype);
  attend(layer);
  // [b, n, s, d] with [n, d, h].
  Tensor attention = g.dot(layer.context, read(first + kOutput), {}, {}, {1, 3}, {0, 1}, model.dtype);
  layer.middle = g.binary("add", input, attention);
  layer.second = normalize(layer.middle);
  layer.up = g.dot(applyNorm(layer.second, first + kNorms, kSecond), read(first + kUp), {}, {}, {2}, {0}, model.dtype);
  Tensor down = g.dot(gelu(layer.up), read(first + kDown), {}, {}, {2}, {0}, model.dtype);
  output = g.binary("add", layer.middle, down);
  return layer;
}

/// Of qkv, [b, s, 3, n, d], by the gradient of the context, [b, n, s, d].
Tensor Step::differentiateAttention(const Layer& layer, const Tensor& gradient) {
  const Tensor &query = layer.query, &key = layer.key, &value = layer.value;
  // [b, n, t, d] of the weights' columns.
  Tensor values = g.dot(narrow(layer.weights), gradient, {0, 1}, {0, 1}, {2}, {2}, model.dtype);
  Tensor weights = wide(g.dot(gradient, value, {0, 1}, {0, 2}, {3}, {3}, model.dtype));
  Tensor product = g.binary("multiply", weights, layer.weights);
  Tensor sum = sumOver(product, {3});
  Tensor scores =
      g.binary("multiply", layer.weights, g.binary("subtract", weights, g.broadcast(sum, {0, 1, 2}, weights.dims)));
  Tensor zero = g.broadcast(g.constant(0, {}, "f32"), {}, scores.dims);
  scores = g.select(layer.visible, scores, zero);
  scores = narrow(g.scale(scores, 1 / std::sqrt(static_cast<double>(d))));
  Tensor queries = g.dot(scores, key, {0, 1}, {0, 2}, {3}, {1}, model.dtype);  // [b, n, s, d]
  Tensor keys = g.dot(scores, query, {0, 1}, {0, 2}, {2}, {1}, model.dtype);   // [b, n, t, d]
  auto place = [&](const Tensor& part) { return g.reshape(g.transpose(part, {0, 2, 1, 3}), {b, s, 1, n, d}); };
  return g.concatenate({place(queries), place(keys), place(values)}, 2);
}

Tensor Step::backward(size_t first, Layer layer, Tensor gradient) {
  if (model.recompute == Recompute::Full) {
    llvm::SmallVector<Tensor> held = g.barrier({layer.input, gradient});
    gradient = held[1];
    Tensor output;
    layer = forward(first, held[0], output);
  }
  Tensor normalized2 = applyNorm(layer.second, first + kNorms, kSecond);
  parameters[first + kDown].gradient = g.dot(gelu(layer.up), gradient, {}, {}, {0, 1}, {0, 1}, model.gradients);
  Tensor up = differentiateGelu(layer.up, g.dot(gradient, read(first + kDown), {}, {}, {2}, {1}, model.dtype));
  parameters[first + kUp].gradient = g.dot(normalized2, up, {}, {}, {0, 1}, {0, 1}, model.gradients);
  Tensor second = g.dot(up, read(first + kUp), {}, {}, {2}, {1}, model.dtype);
  Tensor middle = g.binary("add", gradient, narrow(differentiateNorm(layer.second, first + kNorms, kSecond, second)));

  // [b, s, h] with [n, d, h]: [b, s, n, d].
  Tensor context = g.transpose(g.dot(middle, read(first + kOutput), {}, {}, {2}, {2}, model.dtype), {0, 2, 1, 3});
  // Weights that are read once alone can be computed by ranks that share positions.
  bool isShared = model.recompute == Recompute::None && model.context > 1;
  if (model.recompute == Recompute::Selective || isShared) {
    llvm::SmallVector<Tensor> held = g.barrier({layer.qkv, context});
    layer.qkv = held[0];
    context = held[1];
    attend(layer);
  }
  parameters[first + kOutput].gradient = g.dot(layer.context, middle, {}, {}, {0, 2}, {0, 1}, model.gradients);
  Tensor qkv = differentiateAttention(layer, context);
  Tensor normalized1 = applyNorm(layer.first, first + kNorms, kFirst);
  parameters[first + kQkv].gradient = g.dot(normalized1, qkv, {}, {}, {0, 1}, {0, 1}, model.gradients);
  Tensor inner = g.dot(qkv, read(first + kQkv), {}, {}, {2, 3, 4}, {1, 2, 3}, model.dtype);
  return g.binary("add", middle, narrow(differentiateNorm(layer.first, first + kNorms, kFirst, inner)));
}

/// Logits, their mean cross-entropy, and the gradient of `hidden`.
Tensor Step::addHead(const Tensor& hidden, Tensor& gradient) {
  Norm norm = normalize(hidden);
  Tensor normalized = applyNorm(norm, lastNorm, kFirst);
  Tensor logits = g.dot(normalized, read(embedding), {}, {}, {2}, {1}, "f32");
  Tensor most = g.reduce("maximum", logits, {2});
  Tensor powers = g.unary("exponential", g.binary("subtract", logits, g.broadcast(most, {0, 1}, logits.dims)));
  Tensor sum = sumOver(powers, {2});
  Tensor isLabel = g.compare("EQ", g.iota(2, logits.dims), g.broadcast(labels, {0, 1}, logits.dims));
  Tensor zero = g.broadcast(g.constant(0, {}, "f32"), {}, logits.dims);
  Tensor label = sumOver(g.select(isLabel, logits, zero), {2});
  Tensor losses = g.binary("subtract", g.binary("add", g.unary("log", sum), most), label);
  double share = 1.0 / static_cast<double>(b * s);
  Tensor loss = g.scale(sumOver(losses, {0, 1}), share);

  Tensor one = g.broadcast(g.constant(1, {}, "f32"), {}, logits.dims);
  Tensor chances = g.binary("divide", powers, g.broadcast(sum, {0, 1}, logits.dims));
  Tensor slope = narrow(g.scale(g.binary("subtract", chances, g.select(isLabel, one, zero)), share));
  parameters[embedding].gradient = g.dot(slope, normalized, {}, {}, {0, 1}, {0, 1}, model.gradients);
  Tensor inner = g.dot(slope, read(embedding), {}, {}, {2}, {0}, model.dtype);
  gradient = narrow(differentiateNorm(norm, lastNorm, kFirst, inner));
  return loss;
}

void Step::update(const Tensor& loss) {
  g.addResult("result[1]", loss);
  struct Next {
    Tensor value, master, first, second;
  };
  std::vector<Next> all;
  for (const Parameter& parameter : parameters) {
    Tensor gradient = wide(parameter.rows.empty() ? parameter.gradient : g.concatenate(parameter.rows, 0));
    Next next;
    next.first = g.binary("add", g.scale(parameter.first, kBeta1), g.scale(gradient, 1 - kBeta1));
    next.second = g.binary("add", g.scale(parameter.second, kBeta2),
                           g.scale(g.binary("multiply", gradient, gradient), 1 - kBeta2));
    Tensor small = g.broadcast(g.constant(1e-8, {}, "f32"), {}, gradient.dims);
    Tensor root = g.binary("add", g.unary("sqrt", next.second), small);
    next.master = g.binary("subtract", parameter.master, g.scale(g.binary("divide", next.first, root), kRate));
    next.value = narrow(next.master);
    all.push_back(std::move(next));
  }
  for (auto [parameter, next] : llvm::zip(parameters, all))
    g.addResult("result[0]['params']" + parameter.path, next.value, &parameter.value);
  for (auto [parameter, next] : llvm::zip(parameters, all))
    if (hasMasters()) g.addResult("result[0]['master']" + parameter.path, next.master, &parameter.master);
  for (auto [parameter, next] : llvm::zip(parameters, all))
    g.addResult("result[0]['first']" + parameter.path, next.first, &parameter.first);
  for (auto [parameter, next] : llvm::zip(parameters, all))
    g.addResult("result[0]['second']" + parameter.path, next.second, &parameter.second);
}

std::string Step::write() {
  addInputs();
  Tensor words = g.lookUp(read(embedding), tokens);
  Tensor hidden = g.binary("add", words, g.broadcast(read(positions), {1, 2}, {b, s, h}));
  std::vector<Layer> passed;
  for (size_t first : layers) passed.push_back(forward(first, hidden, hidden));
  Tensor gradient;
  Tensor loss = addHead(hidden, gradient);
  for (size_t number = layers.size(); number-- > 0;) gradient = backward(layers[number], passed[number], gradient);
  parameters[positions].gradient = sumOver(g.convert(gradient, model.gradients), {0});
  Tensor rows = g.addRows(g.convert(gradient, model.gradients), tokens, model.vocabulary);
  parameters[embedding].gradient = g.binary("add", parameters[embedding].gradient, rows);
  update(loss);
  return g.getText();
}

std::string mlir::sgd::writeStep(const Transformer& model) { return Step(model).write(); }
