// Attention through the library's interface against sums over all columns, forward and backward, and what is refused.
#include "targets/gpu/device/cudnn/attention.h"

#include <gmock/gmock.h>

#include <cmath>

#include "emulated_device.h"

namespace sgd::cuda {
namespace {

using artifact::AttentionT;
using artifact::AttentionTensor;
using artifact::ElementType;
using artifact::Slice;
using artifact::Space;
using ::sgd::testing::EmulatedDevice;
using ::testing::HasSubstr;

struct Case {
  uint64_t batch = 2, heads = 4, key_heads = 4, rows = 5, columns = 7, depth = 8, value_depth = 16;
  int64_t diagonal = -1;  // none
  bool has_bias = false, is_bias_shared = false;
  uint64_t batch_step = 2, head_step = 4;
};

// A tensor on the host, [batch, heads, rows, depth] by its strides, and where it lies on the device.
struct Tensor {
  uint64_t rows, heads, depth, offset;
  std::vector<float> values;

  size_t At(uint64_t b, uint64_t h, uint64_t r, uint64_t d) const { return ((b * rows + r) * heads + h) * depth + d; }
  float operator()(uint64_t b, uint64_t h, uint64_t r, uint64_t d) const { return values[At(b, h, r, d)]; }
};

class AttentionTest : public EmulatedDevice {
 protected:
  // Memory [batch, rows, heads, depth] with values that f16 holds.
  Tensor Make(uint64_t rows, uint64_t heads, uint64_t depth) {
    Tensor tensor{rows, heads, depth, next_, {}};
    for (uint64_t i = 0; i < c_.batch * rows * heads * depth; ++i)
      tensor.values.push_back(static_cast<float>(static_cast<int>((i + next_ / 64) * 37 % 17) - 8) / 8);
    next_ += (tensor.values.size() * 2 + 255) / 256 * 256;
    return tensor;
  }

  std::unique_ptr<AttentionTensor> Describe(const Tensor& tensor) {
    const auto row = static_cast<int64_t>(tensor.heads * tensor.depth);
    return std::make_unique<AttentionTensor>(Slice(Space::Private, tensor.offset, tensor.values.size() * 2),
                                             static_cast<int64_t>(tensor.rows) * row,
                                             static_cast<int64_t>(tensor.depth), row);
  }

  void Start(const Case& c) {
    c_ = c;
    next_ = 0;
    query_ = Make(c.rows, c.heads, c.depth), key_ = Make(c.columns, c.key_heads, c.depth);
    value_ = Make(c.columns, c.key_heads, c.value_depth), out_ = Make(c.rows, c.heads, c.value_depth);
    out_gradient_ = Make(c.rows, c.heads, c.value_depth), query_gradient_ = Make(c.rows, c.heads, c.depth);
    key_gradient_ = Make(c.columns, c.key_heads, c.depth),
    value_gradient_ = Make(c.columns, c.key_heads, c.value_depth);
    log_sum_ = next_;
    next_ += (c.batch * c.heads * c.rows * 4 + 255) / 256 * 256;
    bias_ = next_;
    next_ += (c.heads * c.rows * c.columns * 4 + 255) / 256 * 256;
  }

  AttentionT Instruction(bool is_gradient) {
    AttentionT a;
    a.element = ElementType::F16;
    a.batch = c_.batch, a.heads = c_.heads, a.key_heads = c_.key_heads, a.rows = c_.rows, a.columns = c_.columns;
    a.depth = c_.depth, a.value_depth = c_.value_depth, a.batch_step = c_.batch_step, a.head_step = c_.head_step;
    a.scale = 0.25F;
    a.has_diagonal = c_.diagonal >= 0;
    if (a.has_diagonal) a.diagonal = static_cast<uint64_t>(c_.diagonal);
    a.query = Describe(query_), a.key = Describe(key_), a.value = Describe(value_), a.out = Describe(out_);
    a.log_sum = std::make_unique<Slice>(Space::Private, log_sum_, c_.batch * c_.heads * c_.rows * 4);
    if (c_.has_bias) {
      const auto head = static_cast<int64_t>(c_.is_bias_shared ? 0 : c_.rows * c_.columns);
      a.bias_element = ElementType::F32;
      a.bias = std::make_unique<AttentionTensor>(Slice(Space::Private, bias_, c_.heads * c_.rows * c_.columns * 4), 0,
                                                 head, static_cast<int64_t>(c_.columns));
    }
    a.workspace = std::make_unique<Slice>(Space::Private, next_, kWorkspace);
    if (!is_gradient) return a;
    a.gradients = std::make_unique<artifact::AttentionGradientsT>();
    a.gradients->out_gradient = Describe(out_gradient_), a.gradients->query = Describe(query_gradient_);
    a.gradients->key = Describe(key_gradient_), a.gradients->value = Describe(value_gradient_);
    return a;
  }

  device::PreparedThunk Prepare(const AttentionT& a, std::byte* memory) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Attention::Pack(builder, &a));
    device::MemoryMap map;
    map.private_base = memory;
    return device_->PrepareAttention(*flatbuffers::GetRoot<artifact::Attention>(builder.GetBufferPointer()), map);
  }

  float BiasAt(uint64_t head, uint64_t row, uint64_t column) const {
    const uint64_t index = ((c_.is_bias_shared ? 0 : head) * c_.rows + row) * c_.columns + column;
    return static_cast<float>(index % 5) / 4;
  }

  double Score(uint64_t b, uint64_t h, uint64_t r, uint64_t c) const {
    if (c_.diagonal >= 0 && c > r + static_cast<uint64_t>(c_.diagonal)) return -INFINITY;
    double score = 0;
    for (uint64_t d = 0; d < c_.depth; ++d) score += query_(b, h, r, d) * key_(b, KeyHead(h), c, d);
    return score * 0.25 + (c_.has_bias ? BiasAt(h, r, c) : 0);
  }
  uint64_t KeyHead(uint64_t head) const { return head / (c_.heads / c_.key_heads); }

  void Load(std::byte* memory, Tensor& tensor) {
    const std::vector<_Float16> read = Get<_Float16>(memory + tensor.offset, tensor.values.size());
    tensor.values.assign(read.begin(), read.end());
  }

  void Run(const Case& c) {
    Start(c);
    auto arena = *device_->Allocate(next_ + kWorkspace);
    for (const Tensor* tensor : {&query_, &key_, &value_, &out_gradient_})
      Put(arena->data() + tensor->offset, std::vector<_Float16>(tensor->values.begin(), tensor->values.end()));
    std::vector<float> bias;
    for (uint64_t h = 0; h < c.heads; ++h)
      for (uint64_t r = 0; r < c.rows; ++r)
        for (uint64_t k = 0; k < c.columns; ++k) bias.push_back(BiasAt(h, r, k));
    Put(arena->data() + bias_, bias);
    for (bool is_gradient : {false, true}) {
      auto thunk = Prepare(Instruction(is_gradient), arena->data());
      ASSERT_TRUE(thunk.ok()) << thunk.status();
      ASSERT_TRUE((*thunk)->Execute().ok());
      ASSERT_TRUE(device_->Synchronize().ok());
    }
    for (Tensor* tensor : {&out_, &query_gradient_, &key_gradient_, &value_gradient_}) Load(arena->data(), *tensor);
    Compare(Get<float>(arena->data() + log_sum_, c.batch * c.heads * c.rows));
  }

  void Compare(const std::vector<float>& log_sums) {
    std::vector<double> by_query(query_gradient_.values.size()), by_key(key_gradient_.values.size()),
        by_value(value_gradient_.values.size());
    for (uint64_t b = 0; b < c_.batch; ++b)
      for (uint64_t h = 0; h < c_.heads; ++h)
        for (uint64_t r = 0; r < c_.rows; ++r) {
          const double log_sum = CheckRow(b, h, r);
          ASSERT_NEAR(log_sums[(b * c_.heads + h) * c_.rows + r], log_sum, 1e-5);
          AddGradients(b, h, r, log_sum, by_query, by_key, by_value);
        }
    const auto near = [](const Tensor& tensor, const std::vector<double>& expected) {
      for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(tensor.values[i], expected[i], 0.02) << i;
    };
    near(query_gradient_, by_query), near(key_gradient_, by_key), near(value_gradient_, by_value);
  }

  // The logarithm of the row's sum.
  double CheckRow(uint64_t b, uint64_t h, uint64_t r) {
    double sum = 0;
    std::vector<double> means(c_.value_depth);
    for (uint64_t c = 0; c < c_.columns; ++c) {
      const double e = std::exp(Score(b, h, r, c));
      sum += e;
      for (uint64_t d = 0; d < c_.value_depth; ++d) means[d] += e * value_(b, KeyHead(h), c, d);
    }
    for (uint64_t d = 0; d < c_.value_depth; ++d) EXPECT_NEAR(out_(b, h, r, d), means[d] / sum, 2e-3);
    return std::log(sum);
  }

  void AddGradients(uint64_t b, uint64_t h, uint64_t r, double log_sum, std::vector<double>& by_query,
                    std::vector<double>& by_key, std::vector<double>& by_value) const {
    const uint64_t k = KeyHead(h);
    double dot = 0;
    for (uint64_t d = 0; d < c_.value_depth; ++d) dot += out_(b, h, r, d) * out_gradient_(b, h, r, d);
    for (uint64_t c = 0; c < c_.columns; ++c) {
      const double weight = std::exp(Score(b, h, r, c) - log_sum);
      double gradient = 0;
      for (uint64_t d = 0; d < c_.value_depth; ++d) {
        gradient += out_gradient_(b, h, r, d) * value_(b, k, c, d);
        by_value[value_.At(b, k, c, d)] += weight * out_gradient_(b, h, r, d);
      }
      const double score = 0.25 * weight * (gradient - dot);
      for (uint64_t d = 0; d < c_.depth; ++d) {
        by_query[query_.At(b, h, r, d)] += score * key_(b, k, c, d);
        by_key[key_.At(b, k, c, d)] += score * query_(b, h, r, d);
      }
    }
  }

  static constexpr uint64_t kWorkspace = 1 << 20;
  Case c_;
  uint64_t next_ = 0, log_sum_ = 0, bias_ = 0;
  Tensor query_, key_, value_, out_, out_gradient_, query_gradient_, key_gradient_, value_gradient_;
};

TEST_F(AttentionTest, ForwardAndBackward) { Run({}); }
TEST_F(AttentionTest, AsManyRowsAsColumns) { Run({.rows = 8, .columns = 8, .value_depth = 8}); }
TEST_F(AttentionTest, HeadsThatShareKeys) {
  Run({.key_heads = 2});
  Run({.key_heads = 1, .diagonal = 0});
}
TEST_F(AttentionTest, Diagonals) {
  for (int64_t diagonal : {0, 2, 6, 100}) Run({.diagonal = diagonal});
}
TEST_F(AttentionTest, Biases) {
  Run({.has_bias = true});
  Run({.diagonal = 1, .has_bias = true, .is_bias_shared = true});
}
TEST_F(AttentionTest, InParts) {
  Run({.batch_step = 1});
  Run({.key_heads = 2, .diagonal = 0, .has_bias = true, .batch_step = 1, .head_step = 2});
}
TEST_F(AttentionTest, OneRowOrColumn) {
  Run({.rows = 1});
  Run({.columns = 1});
}

TEST_F(AttentionTest, KeepsItsChoice) {
  Run({});
  EXPECT_THAT(device_->algorithm_choices()->Save(),
              ::testing::AllOf(HasSubstr("f16 attention, 2x4 of 4 and 4 heads, 5x7 of 8 and 16, diagonal none"),
                               HasSubstr("f16 backward attention"), HasSubstr("engine 45")));
}

TEST_F(AttentionTest, SaysWhyThereIsNoEngine) {
  Start({});
  AttentionT a = Instruction(true);
  a.workspace = std::make_unique<Slice>(Space::Private, next_, 1024);
  auto arena = *device_->Allocate(next_ + kWorkspace);
  EXPECT_THAT(std::string(Prepare(a, arena->data()).status().message()),
              HasSubstr("has no engine for this backward attention of f16 that gives the same bits every time in "));
}

}  // namespace
}  // namespace sgd::cuda
