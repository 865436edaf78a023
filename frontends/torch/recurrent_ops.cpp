// lstm, gru and rnn: loops over time, one per layer and direction. Input projections of all steps are one matmul.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

enum class CellKind { Lstm, Gru, Tanh, Relu };

/// Weights of one layer in one direction; biases are null without.
struct LayerWeights {
  Value input, hidden, inputBias, hiddenBias;
};

class RecurrentOp {
 public:
  RecurrentOp(AtenOp& op, CellKind kind) : op(op), math(op.math), kind(kind) {}

  /// One step: lstm_cell and the like.
  LogicalResult lowerCell() {
    Value input = op.tensor("input");
    SmallVector<Value> states = op.tensor("hx") ? SmallVector<Value>{op.tensor("hx")} : op.tensors("hx");
    auto isMatrix = [](Value value) { return value && tensorType(value).getRank() == 2; };
    if (!isMatrix(input) || states.size() != (kind == CellKind::Lstm ? 2u : 1u) || !llvm::all_of(states, isMatrix) ||
        !isMatrix(op.tensor("w_ih")) || !isMatrix(op.tensor("w_hh")))
      return op.error() << "has operands that do not fit; expected a batch of vectors";
    Value gates = project(math, input, op.tensor("w_ih"), op.tensor("b_ih"));
    step(math, gates, project(math, states[0], op.tensor("w_hh"), op.tensor("b_hh")), states);
    for (auto [output, state] : llvm::enumerate(states))
      if (output < op.getNumOutputs()) (void)op.finish(state, output);
    return success();
  }

  LogicalResult lower() {
    SmallVector<Value> weights = op.tensors("params");
    bool hasBiases = op.flag("has_biases", true), isBidirectional = op.flag("bidirectional", false);
    int64_t layers = op.integer("num_layers", 1), directions = isBidirectional ? 2 : 1, each = hasBiases ? 4 : 2;
    Value sequence = op.tensor("input");
    SmallVector<Value> first = op.has("hx") && op.tensor("hx") ? SmallVector<Value>{op.tensor("hx")} : op.tensors("hx");
    bool fits = tensorType(sequence).getRank() == 3 &&
                static_cast<int64_t>(weights.size()) == layers * directions * each &&
                first.size() == (kind == CellKind::Lstm ? 2u : 1u) && layers >= 1 &&
                llvm::all_of(weights, isMatrixOrVector) && llvm::all_of(first, isStates);
    if (!fits)
      return op.error() << "has operands in a form that is not supported; expected batches of sequences, and weights "
                           "without projections (proj_size=0)";
    bool isBatchFirst = op.flag("batch_first", false);
    if (isBatchFirst) sequence = math.transpose(sequence, {1, 0, 2});
    SmallVector<SmallVector<Value>> last(first.size());
    for (int64_t layer = 0; layer < layers; ++layer) {
      SmallVector<Value> outputs;
      for (int64_t direction = 0; direction < directions; ++direction) {
        int64_t index = layer * directions + direction;
        ArrayRef<Value> own = ArrayRef(weights).slice(index * each, each);
        LayerWeights layerWeights{own[0], own[1], hasBiases ? own[2] : Value(), hasBiases ? own[3] : Value()};
        SmallVector<Value> states;
        for (Value state : first) states.push_back(takeLayer(state, index));
        outputs.push_back(runLayer(direction == 1 ? reverse(sequence) : sequence, layerWeights, states));
        if (direction == 1) outputs.back() = reverse(outputs.back());
        for (auto [all, state] : llvm::zip(last, states)) all.push_back(state);
      }
      sequence = math.concatenate(outputs, 2);
      double p = op.number("dropout", 0);
      Value kept;
      if (layer + 1 < layers && p > 0 && op.flag("train", false)) sequence = op.dropOut(sequence, p, kept);
    }
    (void)op.finish(isBatchFirst ? math.transpose(sequence, {1, 0, 2}) : sequence, 0);
    for (auto [output, states] : llvm::enumerate(last)) {
      SmallVector<Value> rows;
      for (Value state : states) rows.push_back(addDim(state));
      if (output + 1 < op.getNumOutputs()) (void)op.finish(math.concatenate(rows, 0), output + 1);
    }
    return success();
  }

 private:
  static bool isMatrixOrVector(Value value) { return value && llvm::is_contained({1, 2}, tensorType(value).getRank()); }
  static bool isStates(Value value) { return value && tensorType(value).getRank() == 3; }

  Value reverse(Value sequence) { return math.create<ReverseOp>(sequence.getType(), sequence, ArrayRef<int64_t>{0}); }

  Value addDim(Value value) {
    SmallVector<int64_t> shape(shapeOf(value));
    shape.insert(shape.begin(), 1);
    return math.reshape(value, shape);
  }

  /// Row `index` of states [layers, N, H].
  Value takeLayer(Value states, int64_t index) {
    SmallVector<int64_t> ends(shapeOf(states)), begins(3, 0), shape(shapeOf(states).drop_front());
    begins[0] = std::min(index, ends[0] - 1);
    ends[0] = begins[0] + 1;
    return math.reshape(math.slice(states, begins, ends), shape);
  }

  /// Multiplies x [.., k] by the transpose of w [n, k] and adds a bias.
  static Value project(TensorMath& math, Value x, Value w, Value bias) {
    Value product = multiplyByTransposed(math, x, w);
    int64_t last = tensorType(product).getRank() - 1;
    return bias ? math.add(product, math.broadcast(bias, last, shapeOf(product))) : product;
  }

  /// Gate `index` of `count` in [N, count * H].
  static Value takeGate(TensorMath& math, Value gates, int64_t index, int64_t count) {
    ArrayRef<int64_t> shape = shapeOf(gates);
    int64_t size = shape[1] / count;
    return math.slice(gates, {0, index * size}, {shape[0], (index + 1) * size});
  }

  static Value tanh(TensorMath& math, Value x) { return math.create<math::TanhOp>(x); }

  /// Replaces `states` by those after a step whose projected input is `gates`; `hidden` are the projected states.
  void step(TensorMath& math, Value gates, Value hidden, SmallVectorImpl<Value>& states) const {
    if (kind == CellKind::Gru) {
      auto gate = [&](int64_t index) {
        return writeSigmoid(math, math.add(takeGate(math, gates, index, 3), takeGate(math, hidden, index, 3)));
      };
      Value reset = gate(0), update = gate(1);
      Value inner = math.multiply(reset, takeGate(math, hidden, 2, 3));
      Value candidate = tanh(math, math.add(takeGate(math, gates, 2, 3), inner));
      states[0] = math.add(candidate, math.multiply(update, math.subtract(states[0], candidate)));
      return;
    }
    Value sum = math.add(gates, hidden);
    if (kind == CellKind::Lstm) {
      Value in = writeSigmoid(math, takeGate(math, sum, 0, 4)), forget = writeSigmoid(math, takeGate(math, sum, 1, 4));
      Value candidate = tanh(math, takeGate(math, sum, 2, 4)), out = writeSigmoid(math, takeGate(math, sum, 3, 4));
      states[1] = math.add(math.multiply(forget, states[1]), math.multiply(in, candidate));
      states[0] = math.multiply(out, tanh(math, states[1]));
    } else if (kind == CellKind::Tanh) {
      states[0] = tanh(math, sum);
    } else {
      states[0] = writeRelu(math, sum);
    }
  }

  /// Returns the states of all steps of `sequence` [T, N, F] as [T, N, H]; `states` become the last ones.
  Value runLayer(Value sequence, const LayerWeights& weights, SmallVectorImpl<Value>& states) {
    // Only GRUs need the biases apart: they reset a part of the hidden one.
    Value projected = project(math, sequence, weights.input, weights.inputBias);
    int64_t steps = shapeOf(projected)[0];
    RankedTensorType state = tensorType(states[0]);
    SmallVector<int64_t> all(state.getShape()), row(shapeOf(projected)), written(state.getShape());
    all.insert(all.begin(), steps);
    written.insert(written.begin(), 1);
    row[0] = 1;
    SmallVector<Value> inits = {math.index(0), projected, weights.hidden};
    if (weights.hiddenBias) inits.push_back(weights.hiddenBias);
    size_t firstState = inits.size();
    llvm::append_range(inits, states);
    inits.push_back(math.splat(state.clone(all), 0.0));
    auto loop =
        WhileOp::create(math.getBuilder(), math.getLoc(), inits, steps, [&](OpBuilder& builder, ValueRange iterArgs) {
          TensorMath inside(builder, math.getLoc());
          Value first = inside.index(0), number = iterArgs[0];
          Value starts[] = {number, first, first};
          Value gates = inside.create<DynamicSliceOp>(tensorType(projected).clone(row), iterArgs[1], starts, row);
          SmallVector<Value> next(iterArgs);
          SmallVector<Value> own(iterArgs.slice(firstState, states.size()));
          Value hidden = project(inside, own[0], iterArgs[2], weights.hiddenBias ? iterArgs[3] : Value());
          step(inside, inside.reshape(gates, ArrayRef<int64_t>(row).drop_front()), hidden, own);
          llvm::copy(own, next.begin() + static_cast<ptrdiff_t>(firstState));
          next.back() = inside.create<DynamicUpdateSliceOp>(iterArgs.back().getType(), iterArgs.back(),
                                                            inside.reshape(own[0], written), starts);
          next[0] = inside.add(number, inside.index(1));
          return next;
        });
    for (auto [position, value] : llvm::enumerate(states)) value = loop.getResult(firstState + position);
    return loop.getResults().back();
  }

  AtenOp& op;
  TensorMath& math;
  CellKind kind;
};

template <CellKind kind>
LogicalResult lowerRecurrent(AtenOp& op) {
  return RecurrentOp(op, kind).lower();
}

template <CellKind kind>
LogicalResult lowerCell(AtenOp& op) {
  return RecurrentOp(op, kind).lowerCell();
}

}  // namespace

void mlir::sgd::torch::addRecurrentOps(OpTable& table) {
  table["lstm.input"] = {lowerRecurrent<CellKind::Lstm>, {"input"}};
  table["gru.input"] = {lowerRecurrent<CellKind::Gru>, {"input"}};
  table["rnn_tanh.input"] = {lowerRecurrent<CellKind::Tanh>, {"input"}};
  table["rnn_relu.input"] = {lowerRecurrent<CellKind::Relu>, {"input"}};
  table["lstm_cell.default"] = {lowerCell<CellKind::Lstm>, {"input", "w_ih", "w_hh"}};
  table["gru_cell.default"] = {lowerCell<CellKind::Gru>, {"input", "w_ih", "w_hh"}};
  table["rnn_tanh_cell.default"] = {lowerCell<CellKind::Tanh>, {"input", "w_ih", "w_hh"}};
  table["rnn_relu_cell.default"] = {lowerCell<CellKind::Relu>, {"input", "w_ih", "w_hh"}};
}
