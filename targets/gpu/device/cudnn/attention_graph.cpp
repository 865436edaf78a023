// cuDNN wants keys (and, backward, values) transposed as operands of matmuls, which strides say.
#include "targets/gpu/device/cudnn/attention_graph.h"

#include <limits>
#include <utility>

#include "targets/gpu/device/cudnn/cudnn_nodes.h"

namespace sgd::cuda {
namespace {

using artifact::AttentionT;
using artifact::AttentionTensor;
using artifact::ElementType;
using Pointwise = CudnnGraphBuilder::Pointwise;

constexpr cudnnDataType_t kFloat = CUDNN_DATA_FLOAT;

int64_t IdOf(AttentionTensorId id) { return static_cast<int64_t>(id); }

class GraphWriter {
 public:
  GraphWriter(const Cudnn& cudnn, const AttentionT& attention)
      : a_(attention),
        type_(*CudnnTypeOf(attention.element)),
        batch_(static_cast<int64_t>(attention.batch_step)),
        heads_(static_cast<int64_t>(attention.head_step)),
        key_heads_(heads_ * static_cast<int64_t>(attention.key_heads) / static_cast<int64_t>(attention.heads)),
        rows_(static_cast<int64_t>(attention.rows)),
        columns_(static_cast<int64_t>(attention.columns)),
        depth_(static_cast<int64_t>(attention.depth)),
        value_depth_(static_cast<int64_t>(attention.value_depth)),
        // Older versions had trouble with infinity.
        hidden_(cudnn.version() < 91000 ? std::numeric_limits<float>::lowest()
                                        : -std::numeric_limits<float>::infinity()),
        scores_({batch_, heads_, rows_, columns_}),
        builder_(cudnn, IdOf(AttentionTensorId::FirstFree)) {}

  absl::StatusOr<AttentionGraph> Write() {
    a_.gradients == nullptr ? WriteForward() : WriteBackward();
    std::vector<CudnnDescriptor> parts;
    absl::StatusOr<CudnnDescriptor> graph = builder_.Finish(parts);
    if (!graph.ok()) return graph.status();
    return AttentionGraph{*std::move(graph), std::move(parts), builder_.scalars(), builder_.shifts()};
  }

 private:
  // Tensors in memory
  // -------------------------------------------------------------------------------------------------------------------

  GraphTensor Queries(AttentionTensorId id, const AttentionTensor& tensor, int64_t depth) {
    return builder_.Memory(IdOf(id), type_, {batch_, heads_, rows_, depth},
                           {tensor.batch(), tensor.head(), tensor.row(), 1});
  }
  GraphTensor Keys(AttentionTensorId id, const AttentionTensor& tensor, int64_t depth) {
    return builder_.Memory(IdOf(id), type_, {batch_, key_heads_, columns_, depth},
                           {tensor.batch(), tensor.head(), tensor.row(), 1});
  }
  GraphTensor TransposedKeys(AttentionTensorId id, const AttentionTensor& tensor, int64_t depth) {
    return builder_.Memory(IdOf(id), type_, {batch_, key_heads_, depth, columns_},
                           {tensor.batch(), tensor.head(), 1, tensor.row()});
  }
  // Statistics of all heads are contiguous, those of one call among them: from any element on.
  GraphTensor RowStatistic(AttentionTensorId id, int64_t heads) {
    return builder_.Memory(IdOf(id), kFloat, {batch_, heads_, rows_, 1}, {heads * rows_, rows_, 1, 1}, sizeof(float));
  }
  GraphTensor Bias() {
    const AttentionTensor& bias = *a_.bias;
    const auto size = [](int64_t stride, int64_t own) { return stride == 0 ? 1 : own; };
    const TensorSizes sizes = {size(bias.batch(), batch_), size(bias.head(), heads_), size(bias.row(), rows_),
                               columns_};
    TensorSizes strides = {bias.batch(), bias.head(), bias.row(), 1};
    // A dimension of one element has the stride that it would have were the tensor dense.
    for (int dim = 2; dim >= 0; --dim) {
      if (strides[dim] == 0) strides[dim] = sizes[dim + 1] * strides[dim + 1];
    }
    return builder_.Memory(IdOf(AttentionTensorId::Bias), *CudnnTypeOf(a_.bias_element), sizes, strides,
                           a_.bias_element == ElementType::F32 ? 4 : 2);
  }

  // Steps
  // -------------------------------------------------------------------------------------------------------------------

  GraphTensor Compute(cudnnPointwiseMode_t mode, const TensorSizes& sizes, GraphTensor x, GraphTensor b = 0) {
    const GraphTensor y = builder_.Virtual(kFloat, sizes);
    builder_.Add({.mode = mode, .x = x, .b = b, .y = y});
    return y;
  }

  GraphTensor WriteScores(GraphTensor query, GraphTensor key) {
    const GraphTensor scores = builder_.Virtual(kFloat, scores_);
    builder_.Multiply(query, key, scores);
    const GraphTensor scaled = Compute(CUDNN_POINTWISE_MUL, scores_, scores, builder_.Scalar(a_.scale));
    return a_.bias == nullptr ? scaled : Compute(CUDNN_POINTWISE_ADD, scores_, scaled, Bias());
  }

  GraphTensor Index(GraphTensor scores, int64_t axis) {
    const GraphTensor index = builder_.Virtual(CUDNN_DATA_INT32, scores_);
    builder_.Add({.mode = CUDNN_POINTWISE_GEN_INDEX, .x = scores, .y = index, .axis = axis});
    return index;
  }

  // Minus infinity where the column is behind the row plus the diagonal.
  GraphTensor WriteDiagonal(GraphTensor scores) {
    if (!a_.has_diagonal || a_.diagonal + 1 >= a_.columns) return scores;
    GraphTensor row = Index(scores, 2);
    const GraphTensor column = Index(scores, 3);
    if (a_.diagonal != 0) {
      const GraphTensor shifted = builder_.Virtual(CUDNN_DATA_INT32, scores_);
      builder_.Add({.mode = CUDNN_POINTWISE_ADD,
                    .x = row,
                    .b = builder_.Scalar(static_cast<int32_t>(a_.diagonal)),
                    .y = shifted,
                    .type = CUDNN_DATA_INT32,
                    .axis = 3});
      row = shifted;
    }
    const GraphTensor visible = builder_.Virtual(CUDNN_DATA_BOOLEAN, scores_),
                      masked = builder_.Virtual(kFloat, scores_);
    builder_.Add({.mode = CUDNN_POINTWISE_CMP_GE, .x = row, .b = column, .y = visible, .type = CUDNN_DATA_BOOLEAN});
    builder_.Add(
        {.mode = CUDNN_POINTWISE_BINARY_SELECT, .x = scores, .b = builder_.Scalar(hidden_), .t = visible, .y = masked});
    return masked;
  }

  void WriteForward() {
    const TensorSizes row = {batch_, heads_, rows_, 1};
    const GraphTensor query = Queries(AttentionTensorId::Query, *a_.query, depth_),
                      key = TransposedKeys(AttentionTensorId::Key, *a_.key, depth_),
                      value = Keys(AttentionTensorId::Value, *a_.value, value_depth_),
                      out = Queries(AttentionTensorId::Out, *a_.out, value_depth_),
                      log_sum = RowStatistic(AttentionTensorId::LogSum, static_cast<int64_t>(a_.heads));
    const GraphTensor scores = WriteDiagonal(WriteScores(query, key));
    const GraphTensor max = builder_.Virtual(kFloat, row), sum = builder_.Virtual(kFloat, row);
    builder_.Reduce(CUDNN_REDUCE_TENSOR_MAX, scores, max);
    const GraphTensor relative = Compute(CUDNN_POINTWISE_SUB, scores_, scores, max),
                      exponential = Compute(CUDNN_POINTWISE_EXP, scores_, relative);
    builder_.Reduce(CUDNN_REDUCE_TENSOR_ADD, exponential, sum);
    const GraphTensor log = Compute(CUDNN_POINTWISE_LOG, row, sum);
    builder_.Add({.mode = CUDNN_POINTWISE_ADD, .x = max, .b = log, .y = log_sum});
    const GraphTensor weights = builder_.Virtual(type_, scores_);
    builder_.Add({.mode = CUDNN_POINTWISE_DIV, .x = exponential, .b = sum, .y = weights});
    builder_.Multiply(weights, value, out);
  }

  // result = transpose(scores) x other; heads that share a key are summed.
  void WriteByKey(GraphTensor scores, GraphTensor other, int64_t depth, GraphTensor result) {
    const GraphTensor transposed = builder_.Virtual(type_, {batch_, heads_, columns_, rows_},
                                                    {heads_ * rows_ * columns_, rows_ * columns_, 1, columns_});
    builder_.Reshape(scores, transposed);
    if (heads_ == key_heads_) return builder_.Multiply(transposed, other, result);
    const GraphTensor all = builder_.Virtual(type_, {batch_, heads_, columns_, depth});
    builder_.Multiply(transposed, other, all);
    builder_.Reduce(CUDNN_REDUCE_TENSOR_ADD, all, result);
  }

  void WriteBackward() {
    const artifact::AttentionGradientsT& gradients = *a_.gradients;
    const TensorSizes row = {batch_, heads_, rows_, 1};
    const GraphTensor query = Queries(AttentionTensorId::Query, *a_.query, depth_),
                      key = TransposedKeys(AttentionTensorId::Key, *a_.key, depth_),
                      value = TransposedKeys(AttentionTensorId::Value, *a_.value, value_depth_),
                      out = Queries(AttentionTensorId::Out, *a_.out, value_depth_),
                      out_gradient = Queries(AttentionTensorId::OutGradient, *gradients.out_gradient, value_depth_),
                      log_sum = RowStatistic(AttentionTensorId::LogSum, static_cast<int64_t>(a_.heads)),
                      row_dot = RowStatistic(AttentionTensorId::RowDot, heads_);
    const GraphTensor weighted = Compute(CUDNN_POINTWISE_MUL, {batch_, heads_, rows_, value_depth_}, out_gradient, out),
                      dot = builder_.Virtual(kFloat, row);
    builder_.Reduce(CUDNN_REDUCE_TENSOR_ADD, weighted, dot);
    // The engines expect the factor of dropout here.
    builder_.Add({.mode = CUDNN_POINTWISE_MUL, .x = dot, .b = builder_.Scalar(1.0F), .y = row_dot});

    const GraphTensor relative = Compute(CUDNN_POINTWISE_SUB, scores_, WriteScores(query, key), log_sum),
                      weights = Compute(CUDNN_POINTWISE_EXP, scores_, WriteDiagonal(relative));
    WriteByKey(weights, out_gradient, value_depth_,
               Keys(AttentionTensorId::ValueGradient, *gradients.value, value_depth_));

    const GraphTensor by_weight = builder_.Virtual(kFloat, scores_);
    builder_.Multiply(out_gradient, value, by_weight);
    const GraphTensor centred = Compute(CUDNN_POINTWISE_SUB, scores_, by_weight, row_dot),
                      by_score = Compute(CUDNN_POINTWISE_MUL, scores_, centred, weights),
                      score_gradient = Compute(CUDNN_POINTWISE_MUL, scores_, by_score, builder_.Scalar(a_.scale));
    WriteByKey(score_gradient, query, depth_, Keys(AttentionTensorId::KeyGradient, *gradients.key, depth_));

    // The result itself, not an f32 accumulator that blocks add to in any order.
    const AttentionTensor& keys = *a_.key;
    const GraphTensor untransposed =
        builder_.Virtual(type_, {batch_, key_heads_, columns_, depth_}, {keys.batch(), keys.head(), keys.row(), 1});
    builder_.Reshape(key, untransposed);
    builder_.Multiply(score_gradient, untransposed,
                      Queries(AttentionTensorId::QueryGradient, *gradients.query, depth_));
  }

  const AttentionT& a_;
  cudnnDataType_t type_;
  int64_t batch_, heads_, key_heads_, rows_, columns_, depth_, value_depth_;  // of one call
  float hidden_;
  TensorSizes scores_;
  CudnnGraphBuilder builder_;
};

}  // namespace

absl::StatusOr<AttentionGraph> BuildAttentionGraph(const Cudnn& cudnn, const AttentionT& attention) {
  return GraphWriter(cudnn, attention).Write();
}

}  // namespace sgd::cuda
