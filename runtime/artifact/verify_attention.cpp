// Tensors first, each alone, then each that is written against all others.
#include "runtime/artifact/verify_attention.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/strides.h"

namespace sgd::artifact {
namespace {

absl::Status VerifySizes(const Attention& a) {
  if (a.element() != ElementType::F16 && a.element() != ElementType::BF16)
    return Invalid("attention of other elements than f16 and bf16");
  for (uint64_t size : {a.batch(), a.heads(), a.key_heads(), a.rows(), a.columns(), a.depth(), a.value_depth()}) {
    if (size == 0) return Invalid("attention of an empty tensor");
    if (size > kMaxElements) return Invalid("a dimension is larger than 2^48");
  }
  if (a.heads() % a.key_heads() != 0) return Invalid("heads of keys do not divide those of queries");
  if (!std::isfinite(a.scale())) return Invalid("the scale is not finite");
  if (a.has_diagonal() && a.diagonal() > kMaxElements) return Invalid("the diagonal is larger than 2^48");
  if (a.batch_step() == 0 || a.head_step() == 0 || a.batch() % a.batch_step() != 0 || a.heads() % a.head_step() != 0)
    return Invalid("steps do not divide batch and heads");
  if (a.head_step() % (a.heads() / a.key_heads()) != 0) return Invalid("a step takes a part of the heads of a key");
  return VerifyWork({a.batch(), a.heads(), a.rows(), a.columns(), a.depth() + a.value_depth()});
}

class Verifier {
 public:
  Verifier(const VerifyContext& context, const Attention& attention) : context_(context), a_(attention) {}

  absl::Status Run() {
    AddQueries(a_.query(), a_.depth(), "the query", false);
    AddKeys(a_.key(), a_.depth(), "the key", false);
    AddKeys(a_.value(), a_.value_depth(), "the value", false);
    const AttentionGradients* gradients = a_.gradients();
    AddQueries(a_.out(), a_.value_depth(), "out", gradients == nullptr);
    if (gradients != nullptr) {
      AddQueries(gradients->out_gradient(), a_.value_depth(), "the gradient of out", false);
      AddQueries(gradients->query(), a_.depth(), "the gradient of the query", true);
      AddKeys(gradients->key(), a_.depth(), "the gradient of the key", true);
      AddKeys(gradients->value(), a_.value_depth(), "the gradient of the value", true);
    }
    AddBias();
    Add(Fit(context_, a_.log_sum(), a_.batch() * a_.heads() * a_.rows(), ElementType::F32, "log_sum"), "log_sum",
        gradients == nullptr);
    // Bytes, of any number: as elements of one byte.
    if (a_.workspace() != nullptr)
      Add(Fit(context_, a_.workspace(), a_.workspace()->size(), ElementType::U8, "the workspace"), "the workspace",
          true);
    if (status_.ok()) VerifyApart();
    return status_;
  }

 private:
  struct Tensor {
    Range range;
    const char* name;
    bool is_written;
  };

  void AddQueries(const AttentionTensor* tensor, uint64_t depth, const char* name, bool is_written) {
    AddTensor(*tensor, a_.element(), {a_.heads(), a_.rows(), depth}, name, is_written);
  }
  void AddKeys(const AttentionTensor* tensor, uint64_t depth, const char* name, bool is_written) {
    AddTensor(*tensor, a_.element(), {a_.key_heads(), a_.columns(), depth}, name, is_written);
  }
  void AddBias() {
    if (a_.bias() == nullptr) return;
    if (a_.bias_element() != a_.element() && a_.bias_element() != ElementType::F32)
      return status_.Update(Invalid("a bias of other elements than the operands' and f32"));
    AddTensor(*a_.bias(), a_.bias_element(), {a_.heads(), a_.rows(), a_.columns()}, "the bias", false);
  }

  void AddTensor(const AttentionTensor& tensor, ElementType element, const std::vector<uint64_t>& sizes,
                 const char* name, bool is_written) {
    const std::vector<StridedDim> dims = {
        {a_.batch(), tensor.batch()}, {sizes[0], tensor.head()}, {sizes[1], tensor.row()}, {sizes[2], 1}};
    absl::StatusOr<uint64_t> extent = Extent(dims, name);
    if (!extent.ok()) return status_.Update(extent.status());
    if (is_written && !IsInjective(dims))
      return status_.Update(Invalid(absl::StrCat("the strides of ", name, " let two elements share one address")));
    Add(Fit(context_, &tensor.slice(), *extent, element, name), name, is_written);
  }

  void Add(absl::StatusOr<Range> range, const char* name, bool is_written) {
    if (!range.ok()) return status_.Update(range.status());
    if (is_written && range->space == Space::Constant)
      return status_.Update(Invalid(absl::StrCat(name, " is in the constants, which are read-only")));
    tensors_.push_back({*range, name, is_written});
  }

  void VerifyApart() {
    for (const Tensor& written : tensors_) {
      if (!written.is_written) continue;
      for (const Tensor& other : tensors_) {
        if (&other != &written && Overlap(written.range, other.range))
          return status_.Update(Invalid(absl::StrCat(written.name, " overlaps ", other.name)));
      }
    }
  }

  const VerifyContext& context_;
  const Attention& a_;
  std::vector<Tensor> tensors_;
  absl::Status status_;
};

}  // namespace

absl::Status VerifyAttention(const VerifyContext& context, const Attention& attention) {
  if (absl::Status status = VerifySizes(attention); !status.ok()) return status;
  return Verifier(context, attention).Run();
}

}  // namespace sgd::artifact
