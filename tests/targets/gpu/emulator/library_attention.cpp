// Loops as program.fbs says it, over the host's memory.
#include "tests/targets/gpu/emulator/library_attention.h"

#include <cmath>
#include <vector>

#include "tests/targets/gpu/fakes/element_values.h"

namespace sgd::emulator {
namespace {

using artifact::AttentionT;
using artifact::AttentionTensor;
using artifact::ElementType;
using emulated::Bf16;

// Element [b, h, r, d] of a tensor of the operands' type, or of f32.
class Tensor {
 public:
  Tensor(const device::MemoryMap& memory, const AttentionTensor& layout, ElementType element)
      : data_(memory.Address(layout.slice())), layout_(layout), element_(element) {}

  double Get(uint64_t b, uint64_t h, uint64_t r, uint64_t d) const {
    const int64_t at = Place(b, h, r, d);
    if (element_ == ElementType::F32) return reinterpret_cast<const float*>(data_)[at];
    if (element_ == ElementType::F16) return emulated::Load(reinterpret_cast<const _Float16*>(data_)[at]);
    return emulated::Load(reinterpret_cast<const Bf16*>(data_)[at]);
  }
  void Put(uint64_t b, uint64_t h, uint64_t r, uint64_t d, double value) {
    const int64_t at = Place(b, h, r, d);
    const auto narrow = static_cast<float>(value);
    if (element_ == ElementType::F16)
      reinterpret_cast<_Float16*>(data_)[at] = emulated::Store<_Float16>(narrow);
    else
      reinterpret_cast<Bf16*>(data_)[at] = emulated::Store<Bf16>(narrow);
  }

 private:
  int64_t Place(uint64_t b, uint64_t h, uint64_t r, uint64_t d) const {
    return static_cast<int64_t>(b) * layout_.batch() + static_cast<int64_t>(h) * layout_.head() +
           static_cast<int64_t>(r) * layout_.row() + static_cast<int64_t>(d);
  }

  std::byte* data_;
  AttentionTensor layout_;
  ElementType element_;
};

class LibraryAttention final : public device::Thunk {
 public:
  LibraryAttention(const artifact::Attention& attention, const device::MemoryMap& memory) : memory_(memory) {
    attention.UnPackTo(&a_);
    log_sums_ = reinterpret_cast<float*>(memory.Address(*a_.log_sum));
  }

  absl::Status Execute() override {
    for (uint64_t b = 0; b < a_.batch; ++b) {
      for (uint64_t h = 0; h < a_.heads; ++h) {
        for (uint64_t r = 0; r < a_.rows && a_.gradients == nullptr; ++r) Forward(b, h, r);
      }
      for (uint64_t k = 0; k < a_.key_heads && a_.gradients != nullptr; ++k) Backward(b, k);
    }
    return absl::OkStatus();
  }

 private:
  Tensor At(const AttentionTensor& layout) const { return {memory_, layout, a_.element}; }
  uint64_t Group() const { return a_.heads / a_.key_heads; }
  float& LogSum(uint64_t b, uint64_t h, uint64_t r) { return log_sums_[(b * a_.heads + h) * a_.rows + r]; }

  std::vector<double> Scores(uint64_t b, uint64_t h, uint64_t r) const {
    const Tensor query = At(*a_.query), key = At(*a_.key);
    std::vector<double> scores(a_.columns, -INFINITY);
    for (uint64_t c = 0; c < a_.columns && (!a_.has_diagonal || c <= r + a_.diagonal); ++c) {
      double sum = 0;
      for (uint64_t d = 0; d < a_.depth; ++d) sum += query.Get(b, h, r, d) * key.Get(b, h / Group(), c, d);
      scores[c] = sum * a_.scale;
      if (a_.bias != nullptr) scores[c] += Tensor(memory_, *a_.bias, a_.bias_element).Get(b, h, r, c);
    }
    return scores;
  }

  void Forward(uint64_t b, uint64_t h, uint64_t r) {
    const std::vector<double> scores = Scores(b, h, r);
    double max = -INFINITY, sum = 0;
    for (double score : scores) max = std::isnan(score) || score > max ? score : max;
    for (double score : scores) sum += std::exp(score - max);
    LogSum(b, h, r) = static_cast<float>(max + std::log(sum));
    const Tensor value = At(*a_.value);
    Tensor out = At(*a_.out);
    for (uint64_t d = 0; d < a_.value_depth; ++d) {
      double mean = 0;
      for (uint64_t c = 0; c < a_.columns; ++c)
        mean += std::exp(scores[c] - max) / sum * value.Get(b, h / Group(), c, d);
      out.Put(b, h, r, d, mean);
    }
  }

  // All heads that share a key.
  void Backward(uint64_t b, uint64_t k) {
    const Tensor query = At(*a_.query), key = At(*a_.key), value = At(*a_.value), out = At(*a_.out),
                 out_gradient = At(*a_.gradients->out_gradient);
    Tensor query_gradient = At(*a_.gradients->query), key_gradient = At(*a_.gradients->key),
           value_gradient = At(*a_.gradients->value);
    std::vector<double> by_key(a_.columns * a_.depth), by_value(a_.columns * a_.value_depth);
    for (uint64_t h = k * Group(); h < (k + 1) * Group(); ++h) {
      for (uint64_t r = 0; r < a_.rows; ++r) {
        const std::vector<double> scores = Scores(b, h, r);
        std::vector<double> by_query(a_.depth);
        double dot = 0;
        for (uint64_t d = 0; d < a_.value_depth; ++d) dot += out.Get(b, h, r, d) * out_gradient.Get(b, h, r, d);
        for (uint64_t c = 0; c < a_.columns; ++c) {
          const double weight = std::exp(scores[c] - LogSum(b, h, r));
          double gradient = 0;
          for (uint64_t d = 0; d < a_.value_depth; ++d) {
            gradient += out_gradient.Get(b, h, r, d) * value.Get(b, k, c, d);
            by_value[c * a_.value_depth + d] += weight * out_gradient.Get(b, h, r, d);
          }
          const double score = a_.scale * weight * (gradient - dot);
          for (uint64_t d = 0; d < a_.depth; ++d) {
            by_query[d] += score * key.Get(b, k, c, d);
            by_key[c * a_.depth + d] += score * query.Get(b, h, r, d);
          }
        }
        for (uint64_t d = 0; d < a_.depth; ++d) query_gradient.Put(b, h, r, d, by_query[d]);
      }
    }
    for (uint64_t c = 0; c < a_.columns; ++c) {
      for (uint64_t d = 0; d < a_.depth; ++d) key_gradient.Put(b, k, c, d, by_key[c * a_.depth + d]);
      for (uint64_t d = 0; d < a_.value_depth; ++d) value_gradient.Put(b, k, c, d, by_value[c * a_.value_depth + d]);
    }
  }

  device::MemoryMap memory_;
  AttentionT a_;
  float* log_sums_ = nullptr;
};

}  // namespace

std::unique_ptr<device::Thunk> MakeLibraryAttention(const artifact::Attention& attention,
                                                    const device::MemoryMap& memory) {
  return std::make_unique<LibraryAttention>(attention, memory);
}

}  // namespace sgd::emulator
