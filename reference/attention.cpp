// Attention and its gradients, summed over all columns in double precision: no tiles, no running maximum.
#include "dialects/fusion/attention.h"
#include "reference/ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

namespace {

using Form = fusion::AttentionOpInterface;

/// The element of a tensor at the values that all labels have.
int64_t positionOf(const Tensor& tensor, ArrayRef<int64_t> labels, ArrayRef<int64_t> at) {
  Index index;
  for (int64_t label : labels) index.push_back(at[label]);
  return flatten(index, tensor.shape());
}

class Attention {
 public:
  Attention(Form op, Operands in) : op(op), sizes(fusion::getAttentionSizes(op)), at(sizes.size(), 0) {
    for (auto [operand, tensor] : llvm::zip(op->getOperands(), in)) tensors[operand] = tensor;
  }

  /// Calls `visit` at each batch index and row, where weights are known.
  void forEachRow(llvm::function_ref<void()> visit) {
    SmallVector<int64_t> shape = fusion::getRowStatisticsShape(op);
    forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t flat) {
      llvm::copy(index.drop_back(), at.begin() + Form::kBatch);
      at[Form::kRow] = index.back();
      row = flat;
      computeWeights();
      visit();
    });
  }

  double get(Value operand, ArrayRef<int64_t> labels) {
    const Tensor& tensor = *tensors.at(operand);
    return tensor.floats[positionOf(tensor, labels, at)];
  }
  static void add(Tensor& tensor, ArrayRef<int64_t> labels, ArrayRef<int64_t> at, double value) {
    tensor.floats[positionOf(tensor, labels, at)] += value;
  }

  bool isMasked() {
    if (!op.getMask()) return false;
    const Tensor& mask = *tensors.at(op.getMask());
    return mask.integers[positionOf(mask, *op.getMaskLabels(), at)] == 0;
  }

  Form op;
  SmallVector<int64_t> sizes, at;  // by label
  int64_t row = 0;                 // in row statistics
  double max = 0, sum = 0;
  std::vector<double> exponentials;  // by column

 private:
  double computeScore() {
    int64_t column = at[Form::kColumn];
    if (op.getDiagonal() && column > at[Form::kRow] + static_cast<int64_t>(*op.getDiagonal())) return -INFINITY;
    if (isMasked()) return op.getFill()->convertToDouble();
    double score = 0;
    for (at[Form::kDepth] = 0; at[Form::kDepth] < sizes[Form::kDepth]; ++at[Form::kDepth])
      score += get(op.getQuery(), op.getQueryLabels()) * get(op.getKey(), op.getKeyLabels());
    score *= op.getScale().convertToDouble();
    return op.getBias() ? score + get(op.getBias(), *op.getBiasLabels()) : score;
  }

  void computeWeights() {
    exponentials.clear();
    max = -INFINITY;
    sum = 0;
    for (at[Form::kColumn] = 0; at[Form::kColumn] < sizes[Form::kColumn]; ++at[Form::kColumn]) {
      exponentials.push_back(computeScore());
      max = std::isnan(exponentials.back()) || exponentials.back() > max ? exponentials.back() : max;
    }
    for (double& score : exponentials) sum += score = std::exp(score - max);
  }

  llvm::DenseMap<Value, const Tensor*> tensors;
};

/// Calls `visit` for each value of one label.
template <typename Visit>
void forEach(Attention& state, int64_t label, Visit visit) {
  for (state.at[label] = 0; state.at[label] < state.sizes[label]; ++state.at[label]) visit();
}

void evaluateForward(fusion::AttentionOp op, Attention& state, Operands, Results out) {
  state.forEachRow([&] {
    out[1]->setFloat(state.row, state.max);
    out[2]->setFloat(state.row, state.sum);
    forEach(state, Form::kValueDepth, [&] {
      double mean = 0;
      forEach(state, Form::kColumn, [&] {
        mean += state.exponentials[state.at[Form::kColumn]] / state.sum * state.get(op.getValue(), op.getValueLabels());
      });
      out[0]->setFloat(positionOf(*out[0], op.getOutLabels(), state.at), mean);
    });
  });
}

/// Calls `visit(weight, gradient of the score)` for each row and column. Reads statistics from
/// the operands instead of computing them again.
template <typename Op, typename Visit>
void forEachScore(Op op, Attention& state, Operands in, Visit visit) {
  const Tensor &max = *in[4], &sum = *in[5], &dot = *in[6];
  state.forEachRow([&] {
    forEach(state, Form::kColumn, [&] {
      double recomputed = state.exponentials[state.at[Form::kColumn]];
      double weight = recomputed * std::exp(state.max - max.floats[state.row]) / sum.floats[state.row];
      double gradient = 0;
      forEach(state, Form::kValueDepth, [&] {
        gradient += state.get(op.getOutGradient(), op.getOutLabels()) * state.get(op.getValue(), op.getValueLabels());
      });
      double score =
          state.isMasked() ? 0 : op.getScale().convertToDouble() * weight * (gradient - dot.floats[state.row]);
      visit(weight, score);
    });
  });
}

void evaluateQueryGradient(fusion::AttentionQueryGradientOp op, Attention& state, Operands in, Results results) {
  Tensor& out = *results[0];
  forEachScore(op, state, in, [&](double, double score) {
    forEach(state, Form::kDepth, [&] {
      Attention::add(out, op.getGradientLabels(), state.at, score * state.get(op.getKey(), op.getKeyLabels()));
    });
  });
}

void evaluateKeyGradient(fusion::AttentionKeyGradientOp op, Attention& state, Operands in, Results out) {
  forEachScore(op, state, in, [&](double weight, double score) {
    forEach(state, Form::kDepth, [&] {
      Attention::add(*out[0], op.getKeyGradientLabels(), state.at,
                     score * state.get(op.getQuery(), op.getQueryLabels()));
    });
    forEach(state, Form::kValueDepth, [&] {
      Attention::add(*out[1], op.getValueGradientLabels(), state.at,
                     weight * state.get(op.getOutGradient(), op.getOutLabels()));
    });
  });
}

void evaluateLibraryForward(fusion::LibraryAttentionOp op, Attention& state, Operands, Results out) {
  state.forEachRow([&] {
    out[1]->setFloat(state.row, state.max + std::log(state.sum));
    forEach(state, Form::kValueDepth, [&] {
      double mean = 0;
      forEach(state, Form::kColumn, [&] {
        mean += state.exponentials[state.at[Form::kColumn]] / state.sum * state.get(op.getValue(), op.getValueLabels());
      });
      out[0]->setFloat(positionOf(*out[0], op.getOutLabels(), state.at), mean);
    });
  });
}

void evaluateLibraryGradient(fusion::LibraryAttentionGradientOp op, Attention& state, Operands in, Results out) {
  constexpr size_t kLogSum = 5;
  state.forEachRow([&] {
    double dot = 0;
    forEach(state, Form::kValueDepth, [&] {
      dot += state.get(op.getOut(), op.getOutLabels()) * state.get(op.getOutGradient(), op.getOutGradientLabels());
    });
    forEach(state, Form::kColumn, [&] {
      double weight =
          state.exponentials[state.at[Form::kColumn]] * std::exp(state.max - in[kLogSum]->floats[state.row]);
      double gradient = 0;
      forEach(state, Form::kValueDepth, [&] {
        double outGradient = state.get(op.getOutGradient(), op.getOutGradientLabels());
        gradient += outGradient * state.get(op.getValue(), op.getValueLabels());
        Attention::add(*out[2], op.getValueGradientLabels(), state.at, weight * outGradient);
      });
      double score = op.getScale().convertToDouble() * weight * (gradient - dot);
      forEach(state, Form::kDepth, [&] {
        Attention::add(*out[0], op.getQueryGradientLabels(), state.at,
                       score * state.get(op.getKey(), op.getKeyLabels()));
        Attention::add(*out[1], op.getKeyGradientLabels(), state.at,
                       score * state.get(op.getQuery(), op.getQueryLabels()));
      });
    });
  });
}

/// The accumulators are in double precision.
void roundAll(ArrayRef<Tensor*> out) {
  for (Tensor* tensor : out)
    for (int64_t at = 0; at < tensor->size(); ++at) tensor->setFloat(at, tensor->floats[at]);
}

/// Adds an op that `evaluate` computes in double precision.
template <typename Op>
void addForm(Evaluations& evaluations, void (*evaluate)(Op, Attention&, Operands, Results)) {
  evaluations.add<Op>([evaluate](Op op, Operands in, Results out) {
    Attention state(cast<Form>(op.getOperation()), in);
    evaluate(op, state, in, out);
    roundAll(out);
  });
}

}  // namespace

void reference::addAttention(Evaluations& evaluations) {
  addForm<fusion::AttentionOp>(evaluations, evaluateForward);
  addForm<fusion::AttentionQueryGradientOp>(evaluations, evaluateQueryGradient);
  addForm<fusion::AttentionKeyGradientOp>(evaluations, evaluateKeyGradient);
  addForm<fusion::LibraryAttentionOp>(evaluations, evaluateLibraryForward);
  addForm<fusion::LibraryAttentionGradientOp>(evaluations, evaluateLibraryGradient);
}
