// Operands by their strides, then the operands of the epilogue, then which of them must be disjoint.
#include "runtime/artifact/verify_matmul.h"

#include <vector>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/strides.h"

namespace sgd::artifact {
namespace {

constexpr uint64_t kMaxBatchDims = 4;

absl::Status Invalid(const std::string& what) { return absl::InvalidArgumentError(what); }

using Strides = flatbuffers::Vector<int64_t>;

std::vector<StridedDim> DimsOf(const Matmul& matmul, const Strides* batch, StridedDim rows, StridedDim columns) {
  std::vector<StridedDim> dims = {rows, columns};
  for (uint64_t i = 0; i < Size(matmul.batch_dims()); ++i) {
    dims.push_back({matmul.batch_dims()->Get(static_cast<uint32_t>(i)), batch->Get(static_cast<uint32_t>(i))});
  }
  return dims;
}

absl::StatusOr<Range> FitOperand(const VerifyContext& context, const Slice* slice, ElementType element,
                                 const std::vector<StridedDim>& dims, const std::string& what) {
  absl::StatusOr<uint64_t> extent = Extent(dims, what);
  if (!extent.ok()) return extent.status();
  return Fit(context, slice, *extent, element, what);
}

// B and C have types of their own with f8 alone.
bool MayMultiply(const Matmul& matmul) {
  if (!IsOfInstructions(matmul.b_element().value_or(ElementType::MIN)) ||
      !IsOfInstructions(matmul.c_element().value_or(ElementType::MIN)))
    return false;
  if (!IsFloat8(matmul.element())) return !matmul.b_element() && !matmul.c_element();
  const ElementType result = ResultElementOf(matmul);
  return IsFloat8(RhsElementOf(matmul)) &&
         (result == ElementType::F32 || result == ElementType::BF16 || result == ElementType::F16);
}

absl::Status VerifyMatmulSizes(const Matmul& matmul) {
  if (!IsOfInstructions(matmul.element())) return Invalid("unknown element type");
  if (matmul.epilogue() > Epilogue::MAX) return Invalid("unknown epilogue");
  if (matmul.activation() > Activation::MAX) return Invalid("unknown activation");
  if (!MayMultiply(matmul)) return Invalid("element types that do not go together");
  if (matmul.allows_tf32() && matmul.element() != ElementType::F32) return Invalid("TF32 is for f32 alone");
  const uint64_t batch = Size(matmul.batch_dims());
  if (batch > kMaxBatchDims || Size(matmul.a_batch()) != batch || Size(matmul.b_batch()) != batch ||
      Size(matmul.c_batch()) != batch) {
    return Invalid("batch dimensions and batch strides do not match");
  }
  std::vector<uint64_t> sizes = {matmul.m(), matmul.n(), matmul.k()};
  for (uint64_t i = 0; i < batch; ++i) sizes.push_back(matmul.batch_dims()->Get(static_cast<uint32_t>(i)));
  return VerifyWork(sizes);
}

// The operand that an activation reads or writes beside C.
absl::Status VerifyAux(const VerifyContext& context, const Matmul& matmul, const std::vector<StridedDim>& c_dims,
                       const std::vector<Range>& others) {
  if (matmul.activation() == Activation::None) {
    return matmul.aux() == nullptr ? absl::OkStatus() : Invalid("aux without an activation");
  }
  if (matmul.epilogue() != Epilogue::None && matmul.epilogue() != Epilogue::Bias) {
    return Invalid("an activation goes with no epilogue but a bias");
  }
  const bool reads = matmul.activation() == Activation::GeluGradient;
  if (matmul.aux() == nullptr) return reads ? Invalid("aux is missing") : absl::OkStatus();
  absl::StatusOr<Range> aux = FitOperand(context, matmul.aux(), ResultElementOf(matmul), c_dims, "aux");
  if (!aux.ok()) return aux.status();
  if (!reads && aux->space == Space::Constant) return Invalid("aux is in the constants, which are read-only");
  for (const Range& other : others) {
    if (Overlap(*aux, other)) return Invalid("aux overlaps another operand");
  }
  return absl::OkStatus();
}

// The reduction of an operand over k, which is written beside C.
absl::Status VerifySums(const VerifyContext& context, const Matmul& matmul, const std::vector<Range>& others) {
  const bool of_a = matmul.epilogue() == Epilogue::SumsOfA, has_sums = of_a || matmul.epilogue() == Epilogue::SumsOfB;
  if (has_sums != (matmul.sums() != nullptr)) return Invalid("sums and the epilogue do not go together");
  if (!has_sums) return absl::OkStatus();
  if (Size(matmul.batch_dims()) != 0) return Invalid("sums of an operand in batches");
  absl::StatusOr<Range> sums =
      Fit(context, matmul.sums(), of_a ? matmul.m() : matmul.n(), ResultElementOf(matmul), "sums");
  if (!sums.ok()) return sums.status();
  if (sums->space == Space::Constant) return Invalid("sums lie in the constants, which are read-only");
  for (const Range& other : others) {
    if (Overlap(*sums, other)) return Invalid("sums overlap another operand");
  }
  return absl::OkStatus();
}

// C must not share bytes with anything else that the instruction touches.
absl::Status VerifyApart(const Range& c, const Matmul& matmul, const VerifyContext& context, const Range& a,
                         const Range& b) {
  if (Overlap(c, a) || Overlap(c, b)) return Invalid("C overlaps A or B");
  if (matmul.epilogue() == Epilogue::Bias || matmul.epilogue() == Epilogue::BiasRelu) {
    absl::StatusOr<Range> bias = Fit(context, matmul.bias(), matmul.n(), ResultElementOf(matmul), "bias");
    if (!bias.ok()) return bias.status();
    if (Overlap(c, *bias)) return Invalid("C overlaps the bias");
  }
  if (matmul.workspace() == nullptr) return absl::OkStatus();
  if (absl::Status status = VerifyWritable(context, matmul.workspace(), "workspace"); !status.ok()) return status;
  const Range workspace = RangeOf(*matmul.workspace());
  for (const Range& other : {a, b, c}) {
    if (Overlap(workspace, other)) return Invalid("the workspace overlaps an operand");
  }
  for (const Slice* other : {matmul.bias(), matmul.aux(), matmul.sums()}) {
    if (other != nullptr && Overlap(workspace, RangeOf(*other))) return Invalid("the workspace overlaps an operand");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyMatmul(const VerifyContext& context, const Matmul& matmul) {
  if (absl::Status status = VerifyMatmulSizes(matmul); !status.ok()) return status;
  const auto a_dims = DimsOf(matmul, matmul.a_batch(), {matmul.m(), matmul.a_m()}, {matmul.k(), matmul.a_k()});
  const auto b_dims = DimsOf(matmul, matmul.b_batch(), {matmul.k(), matmul.b_k()}, {matmul.n(), matmul.b_n()});
  const auto c_dims = DimsOf(matmul, matmul.c_batch(), {matmul.m(), matmul.c_m()}, {matmul.n(), matmul.c_n()});
  absl::StatusOr<Range> a = FitOperand(context, matmul.a(), matmul.element(), a_dims, "A");
  if (!a.ok()) return a.status();
  absl::StatusOr<Range> b = FitOperand(context, matmul.b(), RhsElementOf(matmul), b_dims, "B");
  if (!b.ok()) return b.status();
  absl::StatusOr<Range> c = FitOperand(context, matmul.c(), ResultElementOf(matmul), c_dims, "C");
  if (!c.ok()) return c.status();
  if (c->space == Space::Constant) return Invalid("C is in the constants, which are read-only");
  if (!IsInjective(c_dims)) return Invalid("the strides of C let two elements share one place");
  if (absl::Status status = VerifyAux(context, matmul, c_dims, {*a, *b, *c}); !status.ok()) return status;
  if (absl::Status status = VerifySums(context, matmul, {*a, *b, *c}); !status.ok()) return status;
  return VerifyApart(*c, matmul, context, *a, *b);
}

}  // namespace sgd::artifact
